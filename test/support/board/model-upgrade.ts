import type { EngagementId, SubEngagementId } from '../../../packages/server/src/platform/ids.ts';
import type { Board } from '../../../packages/server/src/routing/board/board.ts';
import type { Command } from '../../../packages/server/src/routing/board/commands.ts';
import { noCall } from './reference-upgrade.ts';
import { names, nth, operatorParty, visitorParty, type Action } from './model-history.ts';

/** D4.4: an upgrade from text to audio or video makes the engagement exclusive. */
export function upgradeCommand(board: Board, action: Action<'acceptUpgrade'>): Command {
  const { which, valid, by: side, pending, video } = action;
  const engagement = nth([...board.engagements.values()], which);
  const upgrade = {
    id: 'upgrade',
    subEngagementId: engagement?.subEngagementId ?? ('none' as SubEngagementId),
    audio: 'two_way',
    video: video ? 'one_way' : null,
    target: side,
    pending,
    undelivered: false,
  } as const;
  const engagementId = engagement?.id ?? ('none' as EngagementId);
  const by =
    (side === 'operator') === valid
      ? operatorParty(engagement?.operator.settings.id ?? nth(names.operators, which))
      : visitorParty(engagement?.visitor.id ?? nth(names.visitors, which));
  return { name: 'acceptUpgrade', engagementId, upgradeId: upgrade.id, by, upgrade };
}

/** Hangs up. If `valid`, the command names the active call of the engagement, if there is one. */
export function endCallCommand(board: Board, { which, valid, by: side }: Action<'endCall'>): Command {
  const engagements = [...board.engagements.values()];
  const engagement = nth(
    engagements.some(({ call }) => call !== null) ? engagements.filter(({ call }) => call !== null) : engagements,
    which,
  );
  const by =
    side === 'operator'
      ? operatorParty(engagement?.operator.settings.id ?? nth(names.operators, which))
      : visitorParty(valid ? engagement?.visitor.id : nth(names.visitors, which));
  const engagementId = engagement?.id ?? ('none' as EngagementId);
  return { name: 'endCall', engagementId, callId: valid ? (engagement?.call?.id ?? noCall) : noCall, by };
}
