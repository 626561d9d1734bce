import type { Room } from '../platform/room.ts';
import { policyRoutes } from './routes.ts';

export const schedules: Room = { routes: policyRoutes };
