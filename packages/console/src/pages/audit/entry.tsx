import { Anchor, Badge, Button, Code, Collapse, Group, Text, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { AuditEntry } from '@usher/client/api-types';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { At } from '../../components/at.tsx';
import classes from './audit.module.css';
import { actionWords, ownerOf, placeOf, plainName, valueWords } from './words.ts';

interface Props {
  readonly entry: AuditEntry;
  /** What ids stand for, as far as the reader knows. */
  readonly names: ReadonlyMap<string, string>;
}

/** Fields that are shown before the rest is asked for. */
const fieldsAtOnce = 5;

/** Who did what to which thing, and what that changed. */
export function Entry({ entry, names }: Props): ReactElement {
  const [open, { toggle }] = useDisclosure();
  const { actor, action, changes, via, request_id } = entry;
  const more = open ? 'Less' : changes.length > fieldsAtOnce ? `${changes.length - fieldsAtOnce} more fields` : 'More';
  const sites = entry.site_ids?.map((id) => names.get(id) ?? 'another site') ?? ['every site'];
  return (
    <li className={classes['entry'] ?? ''}>
      <div className={classes['head'] ?? ''}>
        <Text component="p" className="user-text">
          {actor.type === 'visitor' ? (
            'A visitor'
          ) : (
            <Anchor component={Link} href={`/people/${actor.id}`} fw={600}>
              <bdi>{actor.name}</bdi>
            </Anchor>
          )}{' '}
          {actionWords(action)} <Target entry={entry} names={names} />
        </Text>
        <Text size="sm" c="dimmed">
          <At at={entry.at} />
        </Text>
      </div>
      <Changes changes={changes.slice(0, fieldsAtOnce)} names={names} />
      <Collapse expanded={open}>
        <Changes changes={changes.slice(fieldsAtOnce)} names={names} />
        <Text size="xs" c="dimmed" mt={4} className="user-text">
          {sites.length === 0 ? '' : `Concerns ${sites.join(', ')}. `}
          Signed in via <Code>{via}</Code>, request <Code>{request_id}</Code>, id of the thing{' '}
          <Code>{entry.target.id}</Code>.{' '}
          <Anchor component={Link} href={`/audit?target=${encodeURIComponent(entry.target.id)}`} size="xs">
            All that was done to it
          </Anchor>
        </Text>
      </Collapse>
      <Button
        variant="subtle"
        size="compact-xs"
        ml={-8}
        onClick={toggle}
        aria-expanded={open}
        aria-label={`${more} about: ${actor.name || 'A visitor'} ${actionWords(action)}`}
      >
        {more}
      </Button>
    </li>
  );
}

function Target({ entry, names }: Props): ReactElement | null {
  const owner = ownerOf(entry.changes);
  const name = entry.target.name ?? (owner === null ? null : (names.get(owner) ?? 'somebody'));
  const place = placeOf(entry);
  if (name === null) return null;
  const text = <bdi>{name}</bdi>;
  return place === null ? (
    <b>{text}</b>
  ) : (
    <Anchor component={Link} href={place}>
      {text}
    </Anchor>
  );
}

function Changes({ changes, names }: { readonly changes: AuditEntry['changes']; readonly names: Props['names'] }) {
  if (changes.length === 0) return null;
  return (
    <dl className={classes['changes'] ?? ''}>
      {changes.map((change) => (
        <div key={change.field}>
          <dt>{plainName(change.field)}</dt>
          <dd className="user-text">
            <Value change={change} names={names} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

interface ValueProps {
  readonly change: AuditEntry['changes'][number];
  readonly names: Props['names'];
}

function Value({ change, names }: ValueProps): ReactElement {
  if (change.hidden === true)
    return (
      <Badge variant="default" size="sm" tt="none">
        changed, not shown
      </Badge>
    );
  const [hasBefore, hasAfter] = ['before' in change, 'after' in change];
  return (
    <Group gap={6} component="span">
      {hasBefore ? (
        <span className={classes['value'] ?? ''}>
          <VisuallyHidden>before: </VisuallyHidden>
          {hasAfter ? valueWords(change.before, names) : <s>{valueWords(change.before, names)}</s>}
        </span>
      ) : null}
      {hasBefore && hasAfter ? <span aria-hidden>→</span> : null}
      {hasAfter ? (
        <span className={classes['value'] ?? ''}>
          <VisuallyHidden>after: </VisuallyHidden>
          {valueWords(change.after, names)}
        </span>
      ) : null}
      {change.shortened === true ? (
        <Badge variant="default" size="sm" tt="none">
          shortened
        </Badge>
      ) : null}
    </Group>
  );
}
