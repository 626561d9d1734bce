import { Alert, Anchor, Group, Tabs, Text } from '@mantine/core';
import type { ReactElement } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import { CopyId } from '../../components/copy-id.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { ProblemNote } from '../../components/problem.tsx';
import { Loading } from '../../components/states.tsx';
import { useRead } from '../../data/use-api.ts';
import { useMe } from '../../data/use-me.ts';
import { ApplicationTokens } from './application-tokens.tsx';
import { DeleteSite } from './delete-site.tsx';
import { Providers } from './providers.tsx';
import { SiteSettings } from './site-settings.tsx';
import { SipDomains } from './sip-domains.tsx';
import { texts } from './texts.ts';

const tabs = {
  settings: texts.settings,
  tokens: texts.widgetAndTokens,
  providers: texts.visitorSignIn,
  sip: texts.sipDomains,
};
const readAgainMs = 10_000;

export function SitePage({ id }: { readonly id: string }): ReactElement {
  const me = useMe();
  const [path, navigate] = useLocation();
  const [search] = useSearchParams();
  const read = useRead('GET /sites/{site_id}', { path: { site_id: id } }, { refetchInterval: readAgainMs });
  const mine = me.can('super_manager', id);
  const asked = search.get('tab') ?? 'settings';
  const shown = mine && asked in tabs ? asked : 'settings';
  const site = read.data?.data;
  return (
    <>
      <Anchor component={Link} href="/sites" size="sm">
        {texts.backToSites}
      </Anchor>
      {site === undefined ? (
        read.isError ? (
          <ProblemNote error={read.error} title={texts.couldNotLoadSite} />
        ) : (
          <Loading />
        )
      ) : (
        <>
          <PageTitle title={site.name}>{mine ? <DeleteSite site={site} /> : null}</PageTitle>
          <Group gap="xs" mb="md">
            <Text size="sm" c="dimmed">
              {texts.siteId}
            </Text>
            <CopyId id={site.id} of={texts.thisSite} />
          </Group>
          {mine ? null : (
            <Alert color="gray" mb="md">
              {texts.onlySuperManagers}
            </Alert>
          )}
          <Tabs
            value={shown}
            onChange={(tab) => navigate(tab === 'settings' ? path : `${path}?tab=${tab}`, { replace: true })}
            keepMounted
          >
            {mine ? (
              <Tabs.List mb="md" aria-label={texts.siteSections}>
                {Object.entries(tabs).map(([value, label]) => (
                  <Tabs.Tab key={value} value={value}>
                    {label}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
            ) : null}
            <Tabs.Panel value="settings">
              <SiteSettings site={site} etag={read.data?.etag ?? null} readOnly={!mine} />
            </Tabs.Panel>
            <Tabs.Panel value="tokens">{shown === 'tokens' ? <ApplicationTokens siteId={id} /> : null}</Tabs.Panel>
            <Tabs.Panel value="providers">{shown === 'providers' ? <Providers siteId={id} /> : null}</Tabs.Panel>
            <Tabs.Panel value="sip">{shown === 'sip' ? <SipDomains siteId={id} /> : null}</Tabs.Panel>
          </Tabs>
        </>
      )}
    </>
  );
}
