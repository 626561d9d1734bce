import { AppShell, Burger, Center, Group, Image, Loader, NavLink, Select, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Suspense, useState, type ReactElement } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { lazyComponent } from '../components/lazy-component.ts';
import { useMe } from '../data/use-me.ts';
import icon from '../icon.svg';
import { AccountMenu } from './account-menu.tsx';
import { Alarms } from './alarms.tsx';
import { ErrorBoundary, FailedPage, NoFallback } from './error-boundary.tsx';
import { AvailabilitySwitch } from './availability.tsx';
import { Connection } from './connection.tsx';
import { Offers } from './offers.tsx';
import { mainId, SkipLink } from './skip-link.tsx';
import { accountPage as AccountPage, pages } from './pages.ts';
import { texts } from './texts.ts';

const SampleDataOffer = lazyComponent(async () => (await import('../components/sample-data.tsx')).SampleDataOffer);

/** The frame of every page: menu, site, connection and account. */
export function Frame(): ReactElement {
  const [menuOpen, menu] = useDisclosure();
  const me = useMe();
  const [path] = useLocation();
  const mine = pages.filter(({ role }) => me.can(role));
  const home = me.can('manager') ? '/board' : '/desk';
  const [offersHeight, setOffersHeight] = useState(0);
  return (
    <>
      <SkipLink />
      <Offers onHeight={setOffersHeight} />
      <AppShell
        header={{ height: 52 }}
        footer={{ height: offersHeight }}
        navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !menuOpen } }}
        padding="md"
      >
        <AppShell.Header>
          <Group h="100%" px={{ base: 'xs', sm: 'md' }} gap="xs" wrap="nowrap">
            <Burger opened={menuOpen} onClick={menu.toggle} hiddenFrom="sm" size="sm" aria-label={texts.menu} />
            <Group gap={8} wrap="nowrap" visibleFrom="xs">
              <Image src={icon} w={24} h={24} alt="" />
              <Text fw={700} size="lg">
                Usher
              </Text>
            </Group>
            <Connection />
            <Group ml="auto" gap="xs" wrap="nowrap" miw={0}>
              <Alarms />
              <AvailabilitySwitch />
              <Select
                aria-label={texts.site}
                size="xs"
                w={{ base: 96, xs: 130, sm: 200 }}
                flex="none"
                value={me.siteId ?? ''}
                onChange={(id) => me.chooseSite(id === '' ? null : id)}
                data={[
                  { value: '', label: texts.allSites },
                  ...me.sites.map(({ id, name }) => ({ value: id, label: name })),
                ]}
                allowDeselect={false}
                searchable={me.sites.length > 8}
              />
              <AccountMenu />
            </Group>
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="xs" aria-label={texts.pages}>
          {mine.map(({ path: to, title, icon: Icon }) => (
            <NavLink
              key={to}
              component={Link}
              href={to}
              label={title}
              leftSection={<Icon width={18} height={18} aria-hidden />}
              active={path === to || path.startsWith(`${to}/`)}
              onClick={menu.close}
            />
          ))}
        </AppShell.Navbar>
        <AppShell.Main id={mainId} tabIndex={-1} style={{ outline: 'none' }}>
          {me.can('super_manager') && !path.startsWith('/sites') ? (
            <ErrorBoundary fallback={NoFallback}>
              <Suspense>
                <SampleDataOffer />
              </Suspense>
            </ErrorBoundary>
          ) : null}
          <ErrorBoundary key={path.split('/')[1]} fallback={FailedPage}>
            <Suspense
              fallback={
                <Center mih="40vh">
                  <Loader aria-label={texts.loading} />
                </Center>
              }
            >
              <Switch>
                {mine.map(({ path: to, component: Page }) => (
                  <Route key={to} path={`${to}/*?`}>
                    <Page />
                  </Route>
                ))}
                <Route path="/account/*?">
                  <AccountPage />
                </Route>
                <Route>
                  <Redirect to={home} replace />
                </Route>
              </Switch>
            </Suspense>
          </ErrorBoundary>
        </AppShell.Main>
      </AppShell>
    </>
  );
}
