import { Select } from '@mantine/core';
import { useMemo, useState, type ReactElement } from 'react';
import { texts } from './texts.ts';
import { isFound, offsetOf, zoneNames } from './zones.ts';

/** The number of options shown; searching finds the rest. */
const maxShown = 60;

interface Props {
  readonly value: string;
  readonly fault: string | undefined;
  readonly onChange: (timezone: string) => void;
}

/** A time zone of the browser's list, or any typed name, which the server validates. */
export function TimeZoneSelect({ value, fault, onChange }: Props): ReactElement {
  const [search, setSearch] = useState(value);
  const names = useMemo(() => zoneNames(value), [value]);
  const [now] = useState(() => Date.now());
  const typed = search.trim();
  const isListed = typed === '' || typed === value || names.some((name) => isFound(name, typed));
  const data = isListed ? names : [...names, typed];
  return (
    <Select
      label={texts.timeZone}
      description={offsetOf(value, now) === '' ? undefined : texts.offsetNow(offsetOf(value, now))}
      required
      searchable
      allowDeselect={false}
      limit={maxShown}
      value={value}
      searchValue={search}
      onSearchChange={setSearch}
      error={fault}
      onChange={(zone) => {
        if (zone !== null) onChange(zone);
      }}
      data={data}
      filter={({ options, search: query, limit }) =>
        options.filter((option) => 'value' in option && isFound(option.value, query)).slice(0, limit)
      }
      renderOption={({ option }) =>
        names.includes(option.value)
          ? `${option.value}  ${offsetOf(option.value, now)}`
          : texts.otherTimeZone(option.value)
      }
    />
  );
}
