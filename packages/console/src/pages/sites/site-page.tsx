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
const pollMs = 10_000;

export function SitePage({ id }: { readonly id: string }): ReactElement {
  const me = useMe();
  const [path, navigate] = useLocation();
  const [search] = useSearchParams();
  const read = useRead('GET /sites/{site_id}', { path: { site_id: id } }, { refetchInterval: pollMs });
  const canChange = me.can('super_manager', id);
  const requestedTab = search.get('tab') ?? 'settings';
  const shownTab = canChange && requestedTab in tabs ? requestedTab : 'settings';
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
          <PageTitle title={site.name}>{canChange ? <DeleteSite site={site} /> : null}</PageTitle>
          <Group gap="xs" mb="md">
            <Text size="sm" c="dimmed">
              {texts.siteId}
            </Text>
            <CopyId id={site.id} of={texts.thisSite} />
          </Group>
          {canChange ? null : (
            <Alert color="gray" mb="md">
              {texts.onlySuperManagers}
            </Alert>
          )}
          <Tabs
            value={shownTab}
            onChange={(tab) => navigate(tab === 'settings' ? path : `${path}?tab=${tab}`, { replace: true })}
            keepMounted
          >
            {canChange ? (
              <Tabs.List mb="md" aria-label={texts.siteSections}>
                {Object.entries(tabs).map(([value, label]) => (
                  <Tabs.Tab key={value} value={value}>
                    {label}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
            ) : null}
            <Tabs.Panel value="settings">
              <SiteSettings site={site} etag={read.data?.etag ?? null} readOnly={!canChange} />
            </Tabs.Panel>
            <Tabs.Panel value="tokens">{shownTab === 'tokens' ? <ApplicationTokens siteId={id} /> : null}</Tabs.Panel>
            <Tabs.Panel value="providers">{shownTab === 'providers' ? <Providers siteId={id} /> : null}</Tabs.Panel>
            <Tabs.Panel value="sip">{shownTab === 'sip' ? <SipDomains siteId={id} /> : null}</Tabs.Panel>
          </Tabs>
        </>
      )}
    </>
  );
}
