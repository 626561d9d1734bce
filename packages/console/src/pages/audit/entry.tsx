import { Anchor, Badge, Button, Code, Collapse, Group, Text, VisuallyHidden } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { AuditEntry } from '@usher/sdk/api-types';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { RichText } from '../../components/rich-text.tsx';
import { Timestamp } from '../../components/time/timestamp.tsx';
import classes from './audit.module.css';
import { texts } from './texts.ts';
import { describeAction, ownerOf, pageOf, spaced, formatValue } from './describe.ts';

interface Props {
  readonly entry: AuditEntry;
  /** Names by id, as far as the reader may see them. */
  readonly names: ReadonlyMap<string, string>;
}

/** Fields shown before the entry is expanded. */
const maxCollapsedFields = 5;

/** One entry: who did what to which resource, and what changed. */
export function Entry({ entry, names }: Props): ReactElement {
  const [open, { toggle }] = useDisclosure();
  const { actor, action, changes, via, request_id } = entry;
  const more = open
    ? texts.showLess
    : changes.length > maxCollapsedFields
      ? texts.moreFields(changes.length - maxCollapsedFields)
      : texts.showMore;
  const sites = entry.site_ids?.map((id) => names.get(id) ?? texts.anotherSite) ?? [texts.allSites];
  return (
    <li className={classes['entry'] ?? ''}>
      <div className={classes['head'] ?? ''}>
        <Text component="p" className="user-text">
          {actor.type === 'visitor' ? (
            texts.visitor
          ) : (
            <Anchor component={Link} href={`/people/${actor.id}`} fw={600}>
              <bdi>{actor.name}</bdi>
            </Anchor>
          )}{' '}
          {describeAction(action)} <Target entry={entry} names={names} />
        </Text>
        <Text size="sm" c="dimmed">
          <Timestamp at={entry.at} />
        </Text>
      </div>
      <Changes changes={changes.slice(0, maxCollapsedFields)} names={names} />
      <Collapse expanded={open}>
        <Changes changes={changes.slice(maxCollapsedFields)} names={names} />
        <Text size="xs" c="dimmed" mt={4} className="user-text">
          {sites.length === 0 ? '' : `${texts.sites(sites.join(', '))} `}
          <RichText
            text={texts.origin}
            values={{
              via: <Code>{via}</Code>,
              request: <Code>{request_id}</Code>,
              id: <Code>{entry.target.id}</Code>,
            }}
          />{' '}
          <Anchor component={Link} href={`/audit?target=${encodeURIComponent(entry.target.id)}`} size="xs">
            {texts.viewHistory}
          </Anchor>
        </Text>
      </Collapse>
      <Button
        variant="subtle"
        size="compact-xs"
        ml={-8}
        onClick={toggle}
        aria-expanded={open}
        aria-label={texts.moreAbout(more, actor.name || texts.visitor, describeAction(action))}
      >
        {more}
      </Button>
    </li>
  );
}

function Target({ entry, names }: Props): ReactElement | null {
  const owner = ownerOf(entry.changes);
  const name = entry.target.name ?? (owner === null ? null : (names.get(owner) ?? texts.someone));
  const page = pageOf(entry);
  if (name === null) return null;
  const text = <bdi>{name}</bdi>;
  return page === null ? (
    <b>{text}</b>
  ) : (
    <Anchor component={Link} href={page}>
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
          <dt>{spaced(change.field)}</dt>
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
        {texts.changedValueHidden}
      </Badge>
    );
  const [hasBefore, hasAfter] = ['before' in change, 'after' in change];
  return (
    <Group gap={6} component="span">
      {hasBefore ? (
        <span className={classes['value'] ?? ''}>
          <VisuallyHidden>{texts.before} </VisuallyHidden>
          {hasAfter ? formatValue(change.before, names) : <s>{formatValue(change.before, names)}</s>}
        </span>
      ) : null}
      {hasBefore && hasAfter ? <span aria-hidden>→</span> : null}
      {hasAfter ? (
        <span className={classes['value'] ?? ''}>
          <VisuallyHidden>{texts.after} </VisuallyHidden>
          {formatValue(change.after, names)}
        </span>
      ) : null}
      {change.shortened === true ? (
        <Badge variant="default" size="sm" tt="none">
          {texts.shortened}
        </Badge>
      ) : null}
    </Group>
  );
}
