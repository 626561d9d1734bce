import { Button, Center } from '@mantine/core';
import { useIntersection } from '@mantine/hooks';
import { useEffect, type ReactElement } from 'react';
import { useSearchParams } from 'wouter';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { Empty, Loading, NoMatch, NoneOnSite } from '../../components/states.tsx';
import { useMe } from '../../data/use-me.ts';
import { usePeople, useTeams } from '../people/use-people.ts';
import classes from './audit.module.css';
import { Entry } from './entry.tsx';
import { AuditFilters, type FilterInputs } from './filters.tsx';
import { texts } from './texts.ts';
import { useAuditLog, type AuditFilter, type AuditLog } from './use-audit-log.ts';
import { instantOf } from './describe.ts';

/** The audit log: who changed what. */
export function AuditPage(): ReactElement {
  const me = useMe();
  const [search, setSearch] = useSearchParams();
  const read = (name: keyof FilterInputs): string => search.get(name) ?? '';
  const inputs: FilterInputs = {
    actor: read('actor'),
    action: read('action'),
    type: read('type'),
    target: read('target'),
    since: read('since'),
    until: read('until'),
  };
  const set = (part: Partial<FilterInputs>): void => {
    const all = Object.entries({ ...inputs, ...part }).filter(([, value]) => value !== '');
    setSearch(new URLSearchParams(all), { replace: true });
  };
  const allowed = me.siteId === null || me.can('super_manager', me.siteId);
  const log = useAuditLog(filterOf(inputs, me.siteId), allowed);
  return (
    <>
      <PageTitle title={texts.auditLog} />
      <AuditFilters inputs={inputs} set={set} />
      {allowed ? (
        <Entries log={log} clear={search.size > 0 ? () => setSearch({}, { replace: true }) : null} />
      ) : (
        <Empty>{texts.onlySuperManagers}</Empty>
      )}
    </>
  );
}

function filterOf(inputs: FilterInputs, siteId: string | null): AuditFilter {
  const [since, until] = [instantOf(inputs.since), instantOf(inputs.until)];
  return {
    ...(siteId === null ? {} : { site_ids: [siteId] }),
    ...(inputs.actor === '' ? {} : { actor_id: inputs.actor }),
    ...(inputs.action === '' ? {} : { action: inputs.action }),
    ...(inputs.type === '' ? {} : { target_type: inputs.type }),
    ...(inputs.target === '' ? {} : { target_id: inputs.target }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

interface EntriesProps {
  readonly log: AuditLog;
  /** Clears the filters; `null` if none is set. */
  readonly clear: (() => void) | null;
}

function Entries({ log, clear }: EntriesProps): ReactElement {
  const me = useMe();
  const people = usePeople().data ?? [];
  const teams = useTeams().data ?? [];
  const names = new Map([...me.sites, ...teams, ...people].map(({ id, name }) => [id, name]));
  const { ref, entry } = useIntersection();
  const isAtEnd = entry?.isIntersecting ?? false;
  const { hasMore, isReadingMore, readMore } = log;
  useEffect(() => {
    if (isAtEnd && hasMore && !isReadingMore) readMore();
  }, [isAtEnd, hasMore, isReadingMore, readMore]);
  if (log.entries === undefined)
    return log.error === null ? <Loading /> : <ProblemNote error={log.error} title={texts.couldNotLoadPage} />;
  if (log.entries.length === 0 && clear !== null) return <NoMatch clear={clear}>{texts.noMatchingEntries}</NoMatch>;
  if (log.entries.length === 0 && me.siteId !== null) return <NoneOnSite what="changes" />;
  if (log.entries.length === 0) return <Empty>{texts.noChangesYet}</Empty>;
  return (
    <>
      <ProblemNote error={log.error} />
      <ol className={classes['list'] ?? ''}>
        {log.entries.map((each) => (
          <Entry key={each.id} entry={each} names={names} />
        ))}
      </ol>
      {hasMore ? (
        <Center mt="md" ref={ref}>
          <Button variant="default" loading={isReadingMore} onClick={readMore}>
            {texts.olderEntries}
          </Button>
        </Center>
      ) : null}
    </>
  );
}
