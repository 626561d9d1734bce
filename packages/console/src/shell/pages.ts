import {
  IconActivity,
  IconClock,
  IconHeadset,
  IconHistory,
  IconList,
  IconUsers,
  IconWebhook,
  IconWorld,
  type Icon,
} from '@tabler/icons-react';
import { lazy, type ComponentType } from 'react';
import type { Role } from '../data/use-me.ts';

interface Page {
  /** Also of everything below it: the page reads the rest of the address itself. */
  readonly path: string;
  readonly title: string;
  readonly icon: Icon;
  /** Who has it in their menu: those with this role on some site. */
  readonly role: Role;
  readonly component: ComponentType;
}

const page = (load: () => Promise<Record<string, ComponentType>>, name: string): ComponentType =>
  lazy(async () => ({ default: (await load())[name] as ComponentType }));

/** Every page, loaded when it is first opened. */
export const pages: readonly Page[] = [
  {
    path: '/board',
    title: 'Live board',
    icon: IconActivity,
    role: 'manager',
    component: page(async () => import('../pages/board/page.tsx'), 'BoardPage'),
  },
  {
    path: '/desk',
    title: 'Desk',
    icon: IconHeadset,
    role: 'operator',
    component: page(async () => import('../pages/desk/page.tsx'), 'DeskPage'),
  },
  {
    path: '/queues',
    title: 'Queues',
    icon: IconList,
    role: 'manager',
    component: page(async () => import('../pages/queues/page.tsx'), 'QueuesPage'),
  },
  {
    path: '/hours',
    title: 'Hours',
    icon: IconClock,
    role: 'manager',
    component: page(async () => import('../pages/hours/page.tsx'), 'HoursPage'),
  },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: IconWebhook,
    role: 'super_manager',
    component: page(async () => import('../pages/webhooks/page.tsx'), 'WebhooksPage'),
  },
  {
    path: '/people',
    title: 'People',
    icon: IconUsers,
    role: 'manager',
    component: page(async () => import('../pages/people/page.tsx'), 'PeoplePage'),
  },
  {
    path: '/sites',
    title: 'Sites',
    icon: IconWorld,
    role: 'manager',
    component: page(async () => import('../pages/sites/page.tsx'), 'SitesPage'),
  },
  {
    path: '/audit',
    title: 'Audit log',
    icon: IconHistory,
    role: 'super_manager',
    component: page(async () => import('../pages/audit/page.tsx'), 'AuditPage'),
  },
];

/** Not in the menu: one's own sign-in. */
export const accountPage = page(async () => import('../pages/account/page.tsx'), 'AccountPage');
