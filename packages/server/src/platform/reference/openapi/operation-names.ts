/**
 * The names of every operation of the API, by method and path: the resource and the method in the SDK, and the `operationId` in the
 * OpenAPI document. Clients are built on these names, so a name never changes once it is released.
 *
 * The OpenAPI document and the API reference list the operations in the order of this table, whatever the order in which routes are registered.
 */
const names = {
  'POST /operator_authentication/tokens': ['tokens.create', 'createToken'],
  'POST /sites/tokens': ['tokens.createForSites', 'createSiteToken'],
  'POST /operator_authentication/sessions': ['sessions.create', 'createSession'],
  'GET /operator_authentication/sessions': ['sessions.list', 'listSessions'],
  'DELETE /operator_authentication/sessions': ['sessions.deleteAll', 'deleteAllSessions'],
  'POST /operator_authentication/sessions/current/token': ['sessions.exchangeCookie', 'exchangeSessionCookie'],
  'GET /operator_authentication/sessions/current': ['sessions.current', 'getCurrentSession'],
  'DELETE /operator_authentication/sessions/current': ['sessions.deleteCurrent', 'deleteCurrentSession'],
  'DELETE /operator_authentication/sessions/{session_id}': ['sessions.delete', 'deleteSession'],
  'POST /operators/{operator_id}/invitations': ['invitations.create', 'createInvitation'],
  'GET /operators/{operator_id}/invitations': ['invitations.list', 'listInvitations'],
  'DELETE /operators/{operator_id}/invitations/{invitation_id}': ['invitations.delete', 'deleteInvitation'],
  'POST /operator_authentication/invitations/preview': ['invitations.preview', 'previewInvitation'],
  'POST /operator_authentication/invitations/accept': ['invitations.accept', 'acceptInvitation'],
  'PUT /operator_authentication/password': ['sessions.setPassword', 'setPassword'],
  'POST /operators/{operator_id}/api_keys': ['apiKeys.create', 'createApiKey'],
  'GET /operators/{operator_id}/api_keys': ['apiKeys.list', 'listApiKeys'],
  'DELETE /operators/{operator_id}/api_keys/{key_id}': ['apiKeys.delete', 'deleteApiKey'],
  'POST /operators/{operator_id}/access_tokens': ['accessTokens.create', 'createAccessToken'],
  'GET /operators/{operator_id}/access_tokens': ['accessTokens.list', 'listAccessTokens'],
  'DELETE /operators/{operator_id}/access_tokens/{access_token_id}': ['accessTokens.delete', 'deleteAccessToken'],
  'POST /sites/{site_id}/application_tokens': ['applicationTokens.create', 'createApplicationToken'],
  'GET /sites/{site_id}/application_tokens': ['applicationTokens.list', 'listApplicationTokens'],
  'DELETE /sites/{site_id}/application_tokens/{token_id}': ['applicationTokens.delete', 'deleteApplicationToken'],
  'GET /sites': ['sites.list', 'listSites'],
  'POST /sites': ['sites.create', 'createSite'],
  'GET /sites/{site_id}': ['sites.get', 'getSite'],
  'PATCH /sites/{site_id}': ['sites.update', 'updateSite'],
  'DELETE /sites/{site_id}': ['sites.delete', 'deleteSite'],
  'GET /teams': ['teams.list', 'listTeams'],
  'POST /teams': ['teams.create', 'createTeam'],
  'GET /teams/{team_id}': ['teams.get', 'getTeam'],
  'PATCH /teams/{team_id}': ['teams.update', 'updateTeam'],
  'DELETE /teams/{team_id}': ['teams.delete', 'deleteTeam'],
  'GET /operators': ['operators.list', 'listOperators'],
  'POST /operators': ['operators.create', 'createOperator'],
  'GET /operators/{operator_id}': ['operators.get', 'getOperator'],
  'PATCH /operators/{operator_id}': ['operators.update', 'updateOperator'],
  'DELETE /operators/{operator_id}': ['operators.disable', 'disableOperator'],
  'GET /operator_pictures/{picture_id}': ['operators.getPicture', 'getOperatorPicture'],
  'PUT /operators/{operator_id}/picture': ['operators.setPicture', 'setOperatorPicture'],
  'DELETE /operators/{operator_id}/picture': ['operators.deletePicture', 'deleteOperatorPicture'],
  'GET /colleagues': ['colleagues.list', 'listColleagues'],
  'GET /audit_log': ['auditLog.list', 'listAuditEntries'],
  'POST /visitors': ['visitors.create', 'createVisitor'],
  'GET /visitors': ['visitors.list', 'listVisitors'],
  'POST /visitors/{visitor_id}/token': ['visitors.renewToken', 'renewVisitorToken'],
  'GET /sites/{site_id}/visitors/{visitor_id}': ['visitors.get', 'getVisitor'],
  'PATCH /sites/{site_id}/visitors/{visitor_id}': ['visitors.update', 'updateVisitor'],
  'GET /visitor': ['visitors.current', 'getCurrentVisitor'],
  'PATCH /visitors/{visitor_id}': ['visitors.move', 'moveVisitor'],
  'GET /queues/scheduling_policies': ['schedulingPolicies.list', 'listSchedulingPolicies'],
  'POST /queues/scheduling_policies': ['schedulingPolicies.create', 'createSchedulingPolicy'],
  'GET /queues/scheduling_policies/{scheduling_policy_id}': ['schedulingPolicies.get', 'getSchedulingPolicy'],
  'PUT /queues/scheduling_policies/{scheduling_policy_id}': ['schedulingPolicies.update', 'updateSchedulingPolicy'],
  'DELETE /queues/scheduling_policies/{scheduling_policy_id}': ['schedulingPolicies.delete', 'deleteSchedulingPolicy'],
  'GET /queues/scheduling_policies/{scheduling_policy_id}/preview': [
    'schedulingPolicies.openIntervals',
    'listOpenIntervals',
  ],
  'POST /queues/scheduling_policies/preview': ['schedulingPolicies.preview', 'previewSchedulingPolicy'],
  'GET /queues': ['queues.list', 'listQueues'],
  'POST /queues': ['queues.create', 'createQueue'],
  'POST /queues/preview': ['queues.preview', 'previewQueue'],
  'GET /queues/{queue_id}': ['queues.get', 'getQueue'],
  'PUT /queues/{queue_id}': ['queues.update', 'updateQueue'],
  'DELETE /queues/{queue_id}': ['queues.delete', 'deleteQueue'],
  'GET /sites/{site_id}/availability': ['sites.availability', 'getSiteAvailability'],
  'GET /queues/{queue_id}/rankings': ['queues.rankings', 'listRankings'],
  'PATCH /queues/{queue_id}/rankings': ['queues.updateRankings', 'updateRankings'],
  'GET /phone_channels': ['phoneChannels.list', 'listPhoneChannels'],
  'POST /phone_channels': ['phoneChannels.create', 'createPhoneChannel'],
  'GET /phone_channels/{channel_id}': ['phoneChannels.get', 'getPhoneChannel'],
  'PATCH /phone_channels/{channel_id}': ['phoneChannels.update', 'updatePhoneChannel'],
  'DELETE /phone_channels/{channel_id}': ['phoneChannels.delete', 'deletePhoneChannel'],
  'GET /digital_channels': ['digitalChannels.list', 'listDigitalChannels'],
  'POST /digital_channels': ['digitalChannels.create', 'createDigitalChannel'],
  'GET /digital_channels/{channel_id}': ['digitalChannels.get', 'getDigitalChannel'],
  'PATCH /digital_channels/{channel_id}': ['digitalChannels.update', 'updateDigitalChannel'],
  'DELETE /digital_channels/{channel_id}': ['digitalChannels.delete', 'deleteDigitalChannel'],
  'POST /queue_tickets': ['queueTickets.create', 'createQueueTicket'],
  'GET /queue_tickets': ['queueTickets.list', 'listQueueTickets'],
  'GET /queue_tickets/{ticket_id}': ['queueTickets.get', 'getQueueTicket'],
  'PATCH /queue_tickets/{ticket_id}': ['queueTickets.update', 'updateQueueTicket'],
  'GET /queues/{queue_id}/tickets': ['queues.tickets', 'listTicketsOfQueue'],
  'PUT /operators/{operator_id}/presence': ['operators.setPresence', 'setOperatorPresence'],
  'PUT /visitors/{visitor_id}/presence': ['visitors.renewPresence', 'renewVisitorPresence'],
  'GET /operators/presence_intervals': ['operators.presenceIntervals', 'listPresenceIntervals'],
  'GET /queues/stats': ['queues.stats', 'listQueueStats'],
  'GET /queues/{queue_id}/stats': ['queues.statsOf', 'getQueueStats'],
  'GET /engagements/queue/wait_duration': ['statistics.recentWait', 'getRecentWait'],
  'GET /engagements/stats/duration': ['statistics.engagementDuration', 'getEngagementDuration'],
  'POST /engagements/stats/duration': ['statistics.queryEngagementDuration', 'queryEngagementDuration'],
  'GET /engagements/stats/post_engagement_duration': ['statistics.wrapUpDuration', 'getWrapUpDuration'],
  'POST /engagements/stats/post_engagement_duration': ['statistics.queryWrapUpDuration', 'queryWrapUpDuration'],
  'GET /engagements/stats/queue/wait_duration': ['statistics.waitDuration', 'getWaitDuration'],
  'POST /engagements/stats/queue/wait_duration': ['statistics.queryWaitDuration', 'queryWaitDuration'],
  'GET /operators/stats/online_duration': ['statistics.onlineDuration', 'getOnlineDuration'],
  'POST /operators/stats/online_duration': ['statistics.queryOnlineDuration', 'queryOnlineDuration'],
  'POST /reporting/live/queue/average_wait_time': ['statistics.averageWaitTime', 'queryAverageWaitTime'],
  'POST /engagement_requests': ['engagementRequests.create', 'createEngagementRequest'],
  'GET /engagement_requests': ['engagementRequests.list', 'listEngagementRequests'],
  'GET /engagement_requests/{request_id}': ['engagementRequests.get', 'getEngagementRequest'],
  'PATCH /engagement_requests/{request_id}': ['engagementRequests.update', 'updateEngagementRequest'],
  'GET /engagements': ['engagements.list', 'listEngagements'],
  'POST /engagements/search': ['engagements.search', 'searchEngagements'],
  'GET /engagements/{engagement_id}': ['engagements.get', 'getEngagement'],
  'PATCH /engagements/{engagement_id}': ['engagements.update', 'updateEngagement'],
  'GET /engagements/{engagement_id}/transfers': ['engagements.transfers', 'listTransfers'],
  'POST /transfer_requests': ['transferRequests.create', 'createTransferRequest'],
  'GET /transfer_requests': ['transferRequests.list', 'listTransferRequests'],
  'GET /transfer_requests/{request_id}': ['transferRequests.get', 'getTransferRequest'],
  'PATCH /transfer_requests/{request_id}': ['transferRequests.update', 'updateTransferRequest'],
  'POST /transfer_tickets': ['transferTickets.create', 'createTransferTicket'],
  'GET /transfer_tickets': ['transferTickets.list', 'listTransferTickets'],
  'GET /transfer_tickets/{ticket_id}': ['transferTickets.get', 'getTransferTicket'],
  'PATCH /transfer_tickets/{ticket_id}': ['transferTickets.update', 'updateTransferTicket'],
  'PUT /engagements/{engagement_id}/chat_messages/{message_id}': ['messages.send', 'sendMessage'],
  'PATCH /engagements/{engagement_id}/chat_messages/{message_id}': ['messages.acknowledge', 'acknowledgeMessage'],
  'GET /engagements/{engagement_id}/chat_transcript': ['messages.transcript', 'getTranscript'],
  'POST /engagements/{engagement_id}/system_messages': ['messages.sendSystemMessage', 'sendSystemMessage'],
  'PUT /engagements/{engagement_id}/typing_indicator': ['messages.reportTyping', 'reportTyping'],
  'POST /engagements/{engagement_id}/media_upgrade_requests': ['mediaUpgrades.create', 'createMediaUpgradeRequest'],
  'GET /engagements/{engagement_id}/media_upgrade_requests': ['mediaUpgrades.list', 'listMediaUpgradeRequests'],
  'PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}': [
    'mediaUpgrades.update',
    'updateMediaUpgradeRequest',
  ],
  'GET /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}': [
    'mediaUpgrades.get',
    'getMediaUpgradeRequest',
  ],
  'PATCH /engagements/{engagement_id}/calls/{call_id}': ['engagements.updateCall', 'updateCall'],
  'POST /engagements/{engagement_id}/signals': ['engagements.sendSignal', 'sendSignal'],
  'GET /ice_servers': ['iceServers.get', 'getIceServers'],
  'POST /engagements/{engagement_id}/events': ['engagements.recordEvent', 'recordVisitorEvent'],
  'GET /feed': ['feed.open', 'openFeed'],
  'GET /engagements/{engagement_id}/files': ['files.list', 'listFiles'],
  'POST /engagements/{engagement_id}/files': ['files.upload', 'uploadFile'],
  'GET /engagements/{engagement_id}/files/{file_id}': ['files.download', 'downloadFile'],
  'DELETE /engagements/{engagement_id}/files/{file_id}': ['files.delete', 'deleteFile'],
  'GET /files': ['files.awaitingScan', 'listFilesAwaitingScan'],
  'PUT /files/{file_id}/security_scan': ['files.setScanResult', 'setScanResult'],
  'POST /sites/{site_id}/visitor_authentication_providers': ['identityProviders.create', 'createIdentityProvider'],
  'GET /sites/{site_id}/visitor_authentication_providers': ['identityProviders.list', 'listIdentityProviders'],
  'GET /sites/{site_id}/visitor_authentication_providers/{provider_id}': [
    'identityProviders.get',
    'getIdentityProvider',
  ],
  'DELETE /sites/{site_id}/visitor_authentication_providers/{provider_id}': [
    'identityProviders.delete',
    'deleteIdentityProvider',
  ],
  'POST /visitor_authentication/requests': ['visitorAuthentication.create', 'createVisitorAuthentication'],
  'GET /visitor_authentication/requests/{authentication_request_id}': [
    'visitorAuthentication.get',
    'getVisitorAuthentication',
  ],
  'GET /sip_domains': ['sipDomains.list', 'listSipDomains'],
  'POST /sip_domains': ['sipDomains.create', 'createSipDomain'],
  'GET /sip_domains/{sip_domain_id}': ['sipDomains.get', 'getSipDomain'],
  'DELETE /sip_domains/{sip_domain_id}': ['sipDomains.delete', 'deleteSipDomain'],
  'GET /events': ['events.list', 'listEvents'],
  'POST /outbound_sms': ['engagementRequests.createBySms', 'createOutboundSms'],
  'GET /webhooks': ['webhooks.list', 'listWebhooks'],
  'POST /webhooks': ['webhooks.create', 'createWebhook'],
  'GET /webhooks/{webhook_id}': ['webhooks.get', 'getWebhook'],
  'PUT /webhooks/{webhook_id}': ['webhooks.update', 'updateWebhook'],
  'DELETE /webhooks/{webhook_id}': ['webhooks.delete', 'deleteWebhook'],
  'POST /webhooks/{webhook_id}/rotate_secret': ['webhooks.rotateSecret', 'rotateWebhookSecret'],
  'POST /webhooks/{webhook_id}/test': ['webhooks.test', 'testWebhook'],
  'GET /event_types': ['events.types', 'listEventTypes'],
  'GET /webhooks/{webhook_id}/stats': ['webhooks.stats', 'getWebhookStats'],
  'GET /webhooks/{webhook_id}/deliveries': ['deliveries.list', 'listDeliveries'],
  'GET /deliveries/{delivery_id}': ['deliveries.get', 'getDelivery'],
  'POST /deliveries/{delivery_id}/replay': ['deliveries.replay', 'replayDelivery'],
  'POST /webhooks/{webhook_id}/recover': ['recoveries.create', 'recoverWebhook'],
  'GET /webhooks/{webhook_id}/recoveries': ['recoveries.list', 'listRecoveries'],
  'GET /webhooks/{webhook_id}/recoveries/{recovery_id}': ['recoveries.get', 'getRecovery'],
  'GET /sample_data': ['sampleData.get', 'getSampleData'],
  'POST /sample_data': ['sampleData.create', 'createSampleData'],
  'PATCH /sample_data': ['sampleData.update', 'updateSampleData'],
  'DELETE /sample_data': ['sampleData.delete', 'deleteSampleData'],
  'GET /healthz': ['service.health', 'getHealth'],
  'GET /version': ['service.version', 'getVersion'],
  'GET /readyz': ['service.readiness', 'getReadiness'],
} as const satisfies Readonly<Record<string, readonly [sdk: string, operationId: string]>>;

const ranks = new Map(Object.keys(names).map((operation, rank) => [operation, rank]));

/** For sorting: the place of an operation in the reference. An operation without a name comes last. */
export function rankOf(method: string, path: string): number {
  return ranks.get(`${method} ${path}`) ?? ranks.size;
}

export interface OperationNames {
  /** The resource and the method in the SDK: `queues.list`. */
  readonly sdk: string;
  readonly operationId: string;
}

/** `null`: the operation has no name yet. */
export function namesOf(method: string, path: string): OperationNames | null {
  const found = (names as Readonly<Record<string, readonly [string, string] | undefined>>)[`${method} ${path}`];
  return found === undefined ? null : { sdk: found[0], operationId: found[1] };
}

/** `site_ids` → `siteIds`. */
export function camelCase(name: string): string {
  return withoutBrackets(name).replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** `listQueues` → `ListQueues`; `engagement.chat.message_status` → `EngagementChatMessageStatus`. */
export function pascalCase(name: string): string {
  return name.replaceAll(/(?:^|[._ ])(\w)/g, (_, first: string) => first.toUpperCase());
}

/**
 * The name of an event type or item of the feed in PascalCase: that of its schema, because two spellings of a type would have the same
 * name otherwise. `EngagementStartEvent` → `EngagementStart`.
 */
export function messageName(type: string, schema: unknown): string {
  const { title } = schema as { readonly title?: string };
  return title?.endsWith('Event') === true ? title.slice(0, -'Event'.length) : pascalCase(type);
}

/** `site_ids[]` → `site_ids`. A list in a query is described by the name with which it is sent. */
export function withoutBrackets(name: string): string {
  return name.replace(/\[\]$/, '');
}
