import { ActionIcon, Avatar, Menu, useMantineColorScheme } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { ExitIcon, GearIcon, MoonIcon, PersonIcon, ReaderIcon, SunIcon } from '@radix-ui/react-icons';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { inWords } from '../components/in-words.ts';
import { useMe } from '../data/use-me.ts';
import { useSession } from '../session/use-session.ts';

const schemes = [
  { value: 'auto', label: 'As the system', icon: GearIcon },
  { value: 'light', label: 'Light', icon: SunIcon },
  { value: 'dark', label: 'Dark', icon: MoonIcon },
] as const;

export function AccountMenu(): ReactElement {
  const { operator } = useMe();
  const session = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const signOut = async (where: 'here' | 'everywhere'): Promise<void> =>
    session.signOut(where).catch((error: unknown) => {
      notifications.show({ color: 'red', title: 'Not signed out', message: inWords(error) });
    });
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <ActionIcon variant="subtle" size="lg" radius="xl" aria-label={`Account of ${operator.name}`}>
          <Avatar size={30} color="blue" src={operator.picture_url} alt="">
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
          Your account
        </Menu.Item>
        <Menu.Item component="a" href="/docs" target="_blank" rel="noreferrer" leftSection={<ReaderIcon aria-hidden />}>
          API reference
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
          Sign out
        </Menu.Item>
        <Menu.Item leftSection={<ExitIcon aria-hidden />} onClick={() => void signOut('everywhere')}>
          Sign out everywhere
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
