import { ActionIcon, Button, Group, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { Cross2Icon } from '@radix-ui/react-icons';
import type { Visitor } from '@usher/sdk/api-types';
import { UsherError } from '@usher/sdk/errors';
import { maxAttributeNameLength, maxAttributeValueLength, maxVisitorNoteLength } from '@usher/contract/limits';
import { useState, type ReactElement } from 'react';
import { ProblemNote } from '../../../components/problem.tsx';
import { useChange } from '../../../data/use-api.ts';
import { texts } from '../texts.ts';
import { changesOf, fieldsOf, type VisitorFields } from './visitor-changes.ts';

const contactFields = [
  ['name', texts.name],
  ['email', texts.email],
  ['phone', texts.phone],
] as const;

interface Edit {
  /** The visitor when editing began: only fields edited since then are saved, so changes by others are kept. */
  readonly base: VisitorFields;
  readonly typed: VisitorFields;
}

/** The drafts by visitor: they survive switching to another conversation. */
const edits = new Map<string, Edit>();

/** Details of the visitor. Typed text survives a refetch until it is saved. */
export function VisitorForm({ visitor }: { readonly visitor: Visitor }): ReactElement {
  const [edit, setEdit] = useState<Edit | null>(edits.get(visitor.id) ?? null);
  const change = (next: Edit | null): void => {
    if (next === null) edits.delete(visitor.id);
    else edits.set(visitor.id, next);
    setEdit(next);
  };
  const read = fieldsOf(visitor);
  const fields = edit?.typed ?? read;
  const setTyped = (typed: VisitorFields | null): void =>
    change(typed === null ? null : { base: edit?.base ?? read, typed });
  const changes = changesOf(edit?.base ?? read, fields);
  const save = useChange('PATCH /sites/{site_id}/visitors/{visitor_id}', {
    refresh: ['GET /sites/{site_id}/visitors/{visitor_id}'],
    // Keep what was typed while saving.
    onDone: () => change(edits.get(visitor.id) === edit ? null : (edits.get(visitor.id) ?? null)),
  });
  const errorOf = (field: string): string | undefined =>
    save.error instanceof UsherError ? save.error.field(field) : undefined;
  const isShownAtField =
    save.error instanceof UsherError && contactFields.some(([field]) => errorOf(field) !== undefined);
  const submit = (event: Pick<Event, 'preventDefault'>): void => {
    event.preventDefault();
    if (changes !== null) save.mutate({ path: { site_id: visitor.site_id, visitor_id: visitor.id }, body: changes });
  };
  return (
    <form onSubmit={submit} aria-label={texts.visitorDetails}>
      <Stack gap="xs">
        {contactFields.map(([field, label]) => (
          <TextInput
            key={field}
            label={label}
            size="xs"
            value={fields[field]}
            error={errorOf(field)}
            onChange={({ currentTarget }) => setTyped({ ...fields, [field]: currentTarget.value })}
          />
        ))}
        <Textarea
          label={texts.note}
          description={texts.forOperatorsOnly}
          size="xs"
          autosize
          minRows={2}
          maxRows={8}
          maxLength={maxVisitorNoteLength}
          value={fields.note}
          onChange={({ currentTarget }) => setTyped({ ...fields, note: currentTarget.value })}
        />
        <Attributes fields={fields} change={setTyped} />
        {isShownAtField ? null : <ProblemNote error={save.error} />}
        {changes === null ? null : (
          <Group gap="xs">
            <Button type="submit" size="xs" loading={save.isPending}>
              {texts.save}
            </Button>
            <Button size="xs" variant="default" onClick={() => setTyped(null)}>
              {texts.discard}
            </Button>
          </Group>
        )}
      </Stack>
    </form>
  );
}

interface AttributesProps {
  readonly fields: VisitorFields;
  readonly change: (fields: VisitorFields) => void;
}

function Attributes({ fields, change }: AttributesProps): ReactElement {
  const { attributes } = fields;
  const put = (index: number, part: Partial<{ name: string; value: string }>): void => {
    const before = attributes[index] ?? { name: '', value: '' };
    change({ ...fields, attributes: attributes.with(index, { ...before, ...part }) });
  };
  return (
    <Stack gap={6} component="section" aria-label={texts.attributes}>
      <Text size="xs" fw={500}>
        {texts.attributes}
      </Text>
      {attributes.map(({ name, value }, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- a typed attribute has no other identity than its index.
        <Group key={index} gap={4} wrap="nowrap">
          <TextInput
            size="xs"
            aria-label={texts.attribute}
            placeholder={texts.attribute}
            maxLength={maxAttributeNameLength}
            value={name}
            onChange={({ currentTarget }) => put(index, { name: currentTarget.value })}
          />
          <TextInput
            size="xs"
            aria-label={texts.valueOf(name)}
            placeholder={texts.value}
            maxLength={maxAttributeValueLength}
            value={value}
            onChange={({ currentTarget }) => put(index, { value: currentTarget.value })}
          />
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={texts.remove(name)}
            onClick={() => change({ ...fields, attributes: attributes.toSpliced(index, 1) })}
          >
            <Cross2Icon aria-hidden />
          </ActionIcon>
        </Group>
      ))}
      <Button
        variant="subtle"
        size="compact-xs"
        w="fit-content"
        onClick={() => change({ ...fields, attributes: [...attributes, { name: '', value: '' }] })}
      >
        {texts.addAttribute}
      </Button>
    </Stack>
  );
}
