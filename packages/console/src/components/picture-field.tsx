import { Avatar, Button, FileButton, Group, Stack, Text, Title } from '@mantine/core';
import type { Operator } from '@usher/sdk/api-types';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, type ReactElement } from 'react';
import { RichText } from './rich-text.tsx';
import { pathPrefix } from '../path-prefix.ts';
import { useSession } from '../session/use-session.ts';
import { ProblemNote } from './problem.tsx';
import { shrinkPicture } from './shrink-picture.ts';
import { texts } from './texts.ts';

const reads = ['GET /operators', 'GET /operators/{operator_id}'] as const;
const types = 'image/png,image/jpeg,image/webp';

/** The picture of an operator, which visitors see beside the display name. */
export function PictureField({ operator }: { readonly operator: Operator }): ReactElement {
  const { api } = useSession();
  const client = useQueryClient();
  const heading = useId();
  const { display_name: name, picture_url: url } = operator;
  const path = { operator_id: operator.id };
  const change = useMutation({
    mutationFn: async (file: File | null) =>
      file === null
        ? api.call('DELETE /operators/{operator_id}/picture', { path })
        : api.call('PUT /operators/{operator_id}/picture', { path, body: { content: await shrinkPicture(file) } }),
    onSuccess: async () => Promise.all(reads.map(async (read) => client.invalidateQueries({ queryKey: [read] }))),
  });
  return (
    <Stack gap="sm" component="section" aria-labelledby={heading}>
      <Title order={2} size="h4" id={heading}>
        {texts.picture}
      </Title>
      <Group>
        <Avatar
          src={url === null ? null : `${pathPrefix}${url}`}
          name={name}
          color="blue"
          size="lg"
          alt={url === null ? '' : texts.pictureOf(name)}
        />
        <FileButton accept={types} onChange={(file) => file !== null && change.mutate(file)}>
          {(props) => (
            <Button {...props} variant="default" loading={change.isPending}>
              {url === null ? texts.uploadPicture : texts.changePicture}
            </Button>
          )}
        </FileButton>
        {url === null ? null : (
          <Button variant="default" disabled={change.isPending} onClick={() => change.mutate(null)}>
            {texts.removePicture}
          </Button>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        <RichText text={texts.pictureHelp} values={{ name: <bdi>{name}</bdi> }} />
      </Text>
      <ProblemNote error={change.error} />
    </Stack>
  );
}
