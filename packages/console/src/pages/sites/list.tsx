import { Anchor, Button, Table, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { CopyId } from '../../components/copy-id.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { useMe } from '../../data/use-me.ts';
import { roleNames } from '../people/person.ts';
import { SampleSection } from './sample-section.tsx';
import { texts } from './texts.ts';

export function SitesList(): ReactElement {
  const me = useMe();
  const sites = me.sites.toSorted((one, other) => one.name.localeCompare(other.name));
  return (
    <>
      <PageTitle title={texts.sites}>
        {me.can('super_manager') ? (
          <Button component={Link} href="/sites/new">
            {texts.addSite}
          </Button>
        ) : null}
      </PageTitle>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{texts.site}</Table.Th>
            <Table.Th visibleFrom="sm">{texts.allowedOrigins}</Table.Th>
            <Table.Th visibleFrom="sm">{texts.timeZone}</Table.Th>
            <Table.Th miw={90}>{texts.yourRole}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sites.map((site) => (
            <Table.Tr key={site.id}>
              <Table.Td>
                {me.can('manager', site.id) ? (
                  <Anchor component={Link} href={`/sites/${site.id}`} fw={600} className="user-text">
                    {site.name}
                  </Anchor>
                ) : (
                  <Text className="user-text">{site.name}</Text>
                )}
                <Text size="xs" c="dimmed" className="user-text" lineClamp={2}>
                  {site.addresses.join(', ')}
                </Text>
                <CopyId id={site.id} of={texts.siteNamed(site.name)} />
              </Table.Td>
              <Table.Td visibleFrom="sm" className="user-text">
                <Text size="sm" lineClamp={3}>
                  {site.allowed_origins.length === 0 ? texts.none : site.allowed_origins.join(', ')}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="sm">{site.time_zone ?? texts.notSet}</Table.Td>
              <Table.Td>{roleNames[me.roles[site.id] ?? 'operator']}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <SampleSection />
    </>
  );
}
