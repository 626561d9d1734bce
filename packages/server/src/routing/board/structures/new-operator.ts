import { newDeadline } from './deadlines.ts';
import type { Operator, OperatorSettings } from './state.ts';

/** An operator as they are added to the board. */
export function newOperator(settings: OperatorSettings): Operator {
  return {
    settings,
    present: false,
    free: false,
    texts: 0,
    exclusives: 0,
    lastEngagedAt: 0,
    leaseDeadline: newDeadline('operator_lease', settings.id),
    graceDeadline: newDeadline('operator_grace', settings.id),
    pools: [],
    teams: null,
    ranked: [],
    held: null,
    requests: [],
    engagements: [],
  };
}
