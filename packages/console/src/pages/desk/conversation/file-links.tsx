import { Button, Stack } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useState, type ReactElement } from 'react';
import { describeError } from '../../../components/describe-error.ts';
import { RichText } from '../../../components/rich-text.tsx';
import { useSession } from '../../../session/use-session.ts';
import { texts } from '../texts.ts';

interface Props {
  readonly engagementId: string;
  readonly files: readonly { readonly id: string; readonly name: string; readonly deleted: boolean }[];
}

/** The files of a message. Downloading them needs a token, so they are fetched and passed to the browser. */
export function FileLinks({ engagementId, files }: Props): ReactElement {
  const { api } = useSession();
  const [loading, setLoading] = useState<string | null>(null);
  const download = async (id: string, name: string): Promise<void> => {
    setLoading(id);
    try {
      const response = await api.send({ method: 'GET', path: `/engagements/${engagementId}/files/${id}` });
      save(await response.blob(), name);
    } catch (error) {
      notifications.show({ color: 'red', title: texts.couldNotDownloadFile, message: describeError(error) });
    } finally {
      setLoading(null);
    }
  };
  return (
    <Stack gap={4} mt={4} align="start">
      {files.map(({ id, name, deleted }) => (
        <Button
          key={id}
          size="compact-sm"
          variant="default"
          leftSection={<DownloadIcon aria-hidden />}
          disabled={deleted}
          loading={loading === id}
          onClick={() => void download(id, name)}
          title={name}
          maw={280}
        >
          {deleted ? <RichText text={texts.deletedFile} values={{ name: <bdi>{name}</bdi> }} /> : <bdi>{name}</bdi>}
        </Button>
      ))}
    </Stack>
  );
}

function save(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
