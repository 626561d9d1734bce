import {
  ActivityLogIcon,
  BarChartIcon,
  ChatBubbleIcon,
  ClockIcon,
  CounterClockwiseClockIcon,
  GlobeIcon,
  Link2Icon,
  ListBulletIcon,
  PersonIcon,
} from '@radix-ui/react-icons';
import type { Role } from '@usher/contract/roles';
import type { ComponentType } from 'react';
import { lazyComponent } from '../components/lazy-component.ts';
import { pathPrefix } from '../path-prefix.ts';
import { texts } from './texts.ts';

interface Page {
  /** The route, with everything below it: the page reads the rest of the URL itself. */
  readonly path: string;
  readonly title: string;
  readonly icon: typeof ClockIcon;
  /** The page is in the menu of operators with this role on any site. */
  readonly role: Role;
  readonly component: ComponentType;
}

const loadBoard = async () => import('../pages/board/page.tsx');
/** Most operators open the board first: it is preloaded during sign-in. */
if (/^\/console\/(board\b.*)?$/.test(location.pathname.slice(pathPrefix.length))) loadBoard().catch(() => undefined);

/** All pages, each loaded when it is first opened. */
export const pages: readonly Page[] = [
  {
    path: '/board',
    title: texts.liveBoard,
    icon: ActivityLogIcon,
    role: 'manager',
    component: lazyComponent(async () => (await loadBoard()).BoardPage),
  },
  {
    path: '/desk',
    title: texts.desk,
    icon: ChatBubbleIcon,
    role: 'operator',
    component: lazyComponent(async () => (await import('../pages/desk/page.tsx')).DeskPage),
  },
  {
    path: '/timeline',
    title: texts.timeline,
    icon: BarChartIcon,
    role: 'manager',
    component: lazyComponent(async () => (await import('../pages/timeline/page.tsx')).TimelinePage),
  },
  {
    path: '/queues',
    title: texts.queues,
    icon: ListBulletIcon,
    role: 'manager',
    component: lazyComponent(async () => (await import('../pages/queues/page.tsx')).QueuesPage),
  },
  {
    path: '/hours',
    title: texts.hours,
    icon: ClockIcon,
    role: 'manager',
    component: lazyComponent(async () => (await import('../pages/hours/page.tsx')).HoursPage),
  },
  {
    path: '/webhooks',
    title: texts.webhooks,
    icon: Link2Icon,
    role: 'super_manager',
    component: lazyComponent(async () => (await import('../pages/webhooks/page.tsx')).WebhooksPage),
  },
  {
    path: '/people',
    title: texts.people,
    icon: PersonIcon,
    role: 'manager',
    component: lazyComponent(async () => (await import('../pages/people/page.tsx')).PeoplePage),
  },
  {
    path: '/sites',
    title: texts.sites,
    icon: GlobeIcon,
    role: 'manager',
    component: lazyComponent(async () => (await import('../pages/sites/page.tsx')).SitesPage),
  },
  {
    path: '/audit',
    title: texts.auditLog,
    icon: CounterClockwiseClockIcon,
    role: 'super_manager',
    component: lazyComponent(async () => (await import('../pages/audit/page.tsx')).AuditPage),
  },
];

/** The operator's own account, which is not in the menu. */
export const accountPage = lazyComponent(async () => (await import('../pages/account/page.tsx')).AccountPage);
