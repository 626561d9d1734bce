import { Select } from '@mantine/core';
import type { ReactElement } from 'react';
import { texts } from './texts.ts';

const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

interface Props {
  readonly value: string | null;
  readonly onChange: (zone: string | null) => void;
  readonly error: string | undefined;
  readonly readOnly: boolean;
}

/** Searches any part of the name: `tall` finds Europe/Tallinn. */
export function TimeZone({ value, onChange, error, readOnly }: Props): ReactElement {
  const data = value === null || zones.includes(value) ? zones : [value, ...zones];
  return (
    <Select
      label={texts.timeZone}
      description={texts.timeZoneHelp}
      placeholder={texts.notSet}
      data={data}
      value={value}
      onChange={onChange}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': texts.noTimeZone }}
      nothingFoundMessage={texts.noMatchingTimeZones}
      limit={50}
      error={error}
      readOnly={readOnly}
    />
  );
}
