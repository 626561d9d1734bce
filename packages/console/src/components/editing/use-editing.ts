import { UsherError } from '@usher/sdk/errors';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useUnsavedChanges } from './unsaved-changes.ts';
import { isEqual } from './versions.ts';

/** A stored version with its ETag; `null` for a new one. */
export interface Version<Fields> {
  readonly fields: Fields;
  readonly etag: string | null;
}

interface Source<Fields> {
  /** The latest version read; it replaces the draft while nothing was typed. */
  readonly current: Version<Fields>;
  /** Saves if the ETag still matches; throws the server's refusal otherwise. */
  readonly save: (fields: Fields, etag: string | null) => Promise<Version<Fields>>;
  readonly readAgain: () => Promise<Version<Fields>>;
  readonly onSaved: (version: Version<Fields>) => void;
}

export interface Editing<Fields> {
  readonly draft: Fields;
  readonly base: Fields;
  readonly set: (part: Partial<Fields>) => void;
  readonly isChanged: boolean;
  readonly discard: () => void;
  readonly submit: () => void;
  readonly saving: boolean;
  /** Why the last save was refused; until the next change. */
  readonly error: Error | null;
  /** Another operator's version, if saving met a conflict: `resolve` or `dismiss` it. */
  readonly theirs: Version<Fields> | null;
  readonly resolve: (chosen: Fields) => void;
  readonly dismiss: () => void;
}

type Outcome<Fields> = { readonly saved: Version<Fields> } | { readonly theirs: Version<Fields> };

/** Edits something that others may edit, too: typed text stays until it is saved or discarded. */
export function useEditing<Fields extends object>(source: Source<Fields>): Editing<Fields> {
  const { current, onSaved } = source;
  const [base, setBase] = useState(current);
  const [draft, setDraft] = useState(current.fields);
  const [seen, setSeen] = useState(current.etag);
  const [theirs, setTheirs] = useState<Version<Fields> | null>(null);
  const isChanged = !isEqual(draft, base.fields);
  const markSaved = useUnsavedChanges(isChanged);
  if (current.etag !== seen) {
    setSeen(current.etag);
    if (!isChanged) {
      setBase(current);
      setDraft(current.fields);
    }
  }
  const saving = useMutation({
    mutationFn: async ({ fields, etag }: Version<Fields>) => attempt(source, fields, etag),
    onSuccess: (outcome: Outcome<Fields>, { fields: sent }) => {
      if ('theirs' in outcome) return setTheirs(outcome.theirs);
      setTheirs(null);
      setBase(outcome.saved);
      // Keep what was typed while saving.
      setDraft((now) => keepTypedSince(sent, now, outcome.saved.fields));
      markSaved();
      onSaved(outcome.saved);
    },
  });
  return {
    draft,
    base: base.fields,
    set: (part) => {
      setDraft((before) => ({ ...before, ...part }));
      if (saving.isError) saving.reset();
    },
    isChanged,
    discard: () => {
      setDraft(base.fields);
      saving.reset();
    },
    submit: () => saving.mutate({ fields: draft, etag: base.etag }),
    saving: saving.isPending,
    error: saving.error,
    theirs,
    resolve: (fields) => {
      setDraft(fields);
      saving.mutate({ fields, etag: theirs?.etag ?? null });
    },
    dismiss: () => setTheirs(null),
  };
}

function keepTypedSince<Fields extends object>(sent: Fields, now: Fields, saved: Fields): Fields {
  const typed = Object.entries(now).filter(([key, value]) => !isEqual(value, sent[key as keyof Fields]));
  return { ...saved, ...Object.fromEntries(typed) };
}

async function attempt<Fields>(
  { save, readAgain }: Source<Fields>,
  fields: Fields,
  etag: string | null,
): Promise<Outcome<Fields>> {
  try {
    return { saved: await save(fields, etag) };
  } catch (error) {
    if (error instanceof UsherError && error.status === 412) return { theirs: await readAgain() };
    throw error;
  }
}
