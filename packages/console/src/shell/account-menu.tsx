import { ActionIcon, Avatar, Menu, useMantineColorScheme } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ExitIcon, GearIcon, MoonIcon, PersonIcon, ReaderIcon, SunIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { describeError } from '../components/describe-error.ts';
import { useMe } from '../data/use-me.ts';
import { pathPrefix } from '../path-prefix.ts';
import { useSession } from '../session/use-session.ts';
import { texts } from './texts.ts';

const schemes = [
  { value: 'auto', label: texts.system, icon: GearIcon },
  { value: 'light', label: texts.light, icon: SunIcon },
  { value: 'dark', label: texts.dark, icon: MoonIcon },
] as const;

export function AccountMenu(): ReactElement {
  const { operator } = useMe();
  const session = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = async (where: 'here' | 'everywhere'): Promise<void> =>
    session.signOut(where).catch((error: unknown) => {
      notifications.show({ color: 'red', title: texts.couldNotSignOut, message: describeError(error) });
    });
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" size="lg" radius="xl" aria-label={texts.accountOf(operator.name)}>
          <Avatar
            size={30}
            color="blue"
            src={operator.picture_url === null ? null : `${pathPrefix}${operator.picture_url}`}
            alt=""
          >
            <PersonIcon aria-hidden />
          </Avatar>
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <bdi>{operator.name}</bdi>
          <br />
          {operator.email}
        </Menu.Label>
        <Menu.Item component={Link} href="/account" leftSection={<PersonIcon aria-hidden />}>
          {texts.yourAccount}
        </Menu.Item>
        <Menu.Item
          component="a"
          href={`${pathPrefix}/docs`}
          target="_blank"
          rel="noreferrer"
          leftSection={<ReaderIcon aria-hidden />}
        >
          {texts.apiReference}
        </Menu.Item>
        <Menu.Divider />
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon aria-hidden />}
            fw={colorScheme === value ? 700 : 400}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<ExitIcon aria-hidden />} onClick={() => void signOut('here')}>
          {texts.signOut}
        </Menu.Item>
        <Menu.Item leftSection={<ExitIcon aria-hidden />} onClick={() => void signOut('everywhere')}>
          {texts.signOutEverywhere}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
