// Written by `npm run openapi` from openapi.json: change the routes of the server instead.
import type { AcceptInvitationRequest, AcknowledgeMessageRequest, ChatMessage, CreateAccessTokenRequest, CreateApiKeyRequest, CreateApplicationTokenRequest, CreateDigitalChannelRequest, CreateEngagementRequestRequest, CreateIdentityProviderRequest, CreateInvitationRequest, CreateMediaUpgradeRequestRequest, CreateOperatorRequest, CreateOutboundSmsRequest, CreatePhoneChannelRequest, CreateQueueRequest, CreateQueueTicketRequest, CreateSchedulingPolicyRequest, CreateSessionRequest, CreateSipDomainRequest, CreateSiteRequest, CreateSiteTokenRequest, CreateSiteTokenResponse, CreateTeamRequest, CreateTokenRequest, CreateTokenResponse, CreateTransferRequestRequest, CreateTransferTicketRequest, CreateVisitorAuthenticationRequest, CreateVisitorAuthenticationResponse, CreateVisitorRequest, CreateWebhookRequest, Delivery, DeliveryDetails, DigitalChannel, Engagement, EngagementCall, EngagementRequest, ExchangeSessionCookieRequest, File, GetCurrentSessionResponse, GetEngagementDurationResponse, GetHealthResponse, GetOnlineDurationResponse, GetReadinessResponse, GetRecentWaitResponse, GetTranscriptResponse, GetVersionResponse, GetWaitDurationResponse, GetWrapUpDurationResponse, HoursOutlook, IceServers, InvitationPreview, ListAccessTokensResponse, ListApiKeysResponse, ListApplicationTokensResponse, ListAuditEntriesResponse, ListColleaguesResponse, ListDeliveriesResponse, ListDigitalChannelsResponse, ListEngagementRequestsResponse, ListEngagementsResponse, ListEventTypesResponse, ListEventsResponse, ListFilesAwaitingScanResponse, ListFilesResponse, ListIdentityProvidersResponse, ListInvitationsResponse, ListMediaUpgradeRequestsResponse, ListOpenIntervalsResponse, ListOperatorsResponse, ListPhoneChannelsResponse, ListPresenceIntervalsResponse, ListQueueStatsResponse, ListQueueTicketsResponse, ListQueuesResponse, ListRankingsResponse, ListRecoveriesResponse, ListSchedulingPoliciesResponse, ListSessionsResponse, ListSipDomainsResponse, ListSitesResponse, ListTeamsResponse, ListTicketsOfQueueResponse, ListTransferRequestsResponse, ListTransferTicketsResponse, ListTransfersResponse, ListVisitorsResponse, ListWebhooksResponse, MediaUpgradeRequest, MoveVisitorRequest, NewAccessToken, NewApiKey, NewApplicationToken, NewEngagementRequest, NewInvitation, NewQueueTicket, NewWebhook, Operator, OperatorPicture, PhoneChannel, PreviewInvitationRequest, PreviewQueueRequest, PreviewSchedulingPolicyRequest, QueryAverageWaitTimeRequest, QueryAverageWaitTimeResponse, QueryEngagementDurationRequest, QueryEngagementDurationResponse, QueryOnlineDurationRequest, QueryOnlineDurationResponse, QueryWaitDurationRequest, QueryWaitDurationResponse, QueryWrapUpDurationRequest, QueryWrapUpDurationResponse, Queue, QueuePreview, QueueStats, QueueTicket, RecordVisitorEventRequest, RecoverWebhookRequest, RenewVisitorPresenceRequest, ReplayDeliveryRequest, ReportTypingRequest, RotateWebhookSecretRequest, RotatedSecret, SampleData, SchedulingPolicy, SearchEngagementsRequest, SearchEngagementsResponse, SendMessageRequest, SendSignalRequest, SendSystemMessageRequest, SentTest, SetOperatorPictureRequest, SetOperatorPresenceRequest, SetPasswordRequest, SetScanResultRequest, SignedIn, SipDomain, Site, SiteAvailability, Team, TestWebhookRequest, TransferRequest, TransferTicket, UpdateCallRequest, UpdateDigitalChannelRequest, UpdateEngagementRequest, UpdateEngagementRequestRequest, UpdateEngagementResponse, UpdateMediaUpgradeRequestRequest, UpdateOperatorRequest, UpdatePhoneChannelRequest, UpdateQueueRequest, UpdateQueueTicketRequest, UpdateRankingsRequest, UpdateRankingsResponse, UpdateSampleDataRequest, UpdateSchedulingPolicyRequest, UpdateSiteRequest, UpdateTeamRequest, UpdateTransferRequestRequest, UpdateTransferTicketRequest, UpdateVisitorRequest, UpdateWebhookRequest, Visitor, VisitorAuthenticationProvider, VisitorAuthenticationRequest, VisitorEvent, VisitorToken, Webhook, WebhookRecovery, WebhookStats } from './api-types.ts';
import type { Call, PagedCall } from './call.ts';
import type { CallOptions } from './operation.ts';

export interface Resources {
  readonly tokens: {
    /** Obtain a token with an API key. `POST /operator_authentication/tokens` */
    create(args: { readonly body: CreateTokenRequest }, options?: CallOptions): Call<CreateTokenResponse>;
    /** Obtain a token with an API key, for clients that expect access_token. `POST /sites/tokens` */
    createForSites(args: { readonly body: CreateSiteTokenRequest }, options?: CallOptions): Call<CreateSiteTokenResponse>;
  };
  readonly sessions: {
    /** Sign in with e-mail and password, an API key or a one-time link. `POST /operator_authentication/sessions` */
    create(args: { readonly body: CreateSessionRequest }, options?: CallOptions): Call<SignedIn>;
    /** List the caller's sessions, the most recently used first. `GET /operator_authentication/sessions` */
    list(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<ListSessionsResponse>;
    /** Sign out everywhere: end all sessions of the caller. `DELETE /operator_authentication/sessions` */
    deleteAll(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<null>;
    /** Exchange the session cookie for a token. `POST /operator_authentication/sessions/current/token` */
    exchangeCookie(args: { readonly body: ExchangeSessionCookieRequest }, options?: CallOptions): Call<SignedIn>;
    /** Show whose token this is and which sites it reaches. `GET /operator_authentication/sessions/current` */
    current(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<GetCurrentSessionResponse>;
    /** Sign out: revoke this token and end its session. `DELETE /operator_authentication/sessions/current` */
    deleteCurrent(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<null>;
    /** End one of the caller's sessions; its tokens stop working at once. `DELETE /operator_authentication/sessions/{session_id}` */
    delete(args: { readonly sessionId: string }, options?: CallOptions): Call<null>;
    /** Set or change the caller's own password; all other sessions end. `PUT /operator_authentication/password` */
    setPassword(args: { readonly body: SetPasswordRequest }, options?: CallOptions): Call<null>;
  };
  readonly invitations: {
    /** Invite an operator to choose a password; works once within seven days and replaces an earlier invitation. `POST /operators/{operator_id}/invitations` */
    create(args: { readonly operatorId: string; readonly body: CreateInvitationRequest }, options?: CallOptions): Call<NewInvitation>;
    /** List the pending invitation of an operator, if there is one. `GET /operators/{operator_id}/invitations` */
    list(args: { readonly operatorId: string }, options?: CallOptions): Call<ListInvitationsResponse>;
    /** Withdraw an invitation. `DELETE /operators/{operator_id}/invitations/{invitation_id}` */
    delete(args: { readonly operatorId: string; readonly invitationId: string }, options?: CallOptions): Call<null>;
    /** Show whom an invitation is for. `POST /operator_authentication/invitations/preview` */
    preview(args: { readonly body: PreviewInvitationRequest }, options?: CallOptions): Call<InvitationPreview>;
    /** Accept an invitation: choose a password and sign in. `POST /operator_authentication/invitations/accept` */
    accept(args: { readonly body: AcceptInvitationRequest }, options?: CallOptions): Call<SignedIn>;
  };
  readonly apiKeys: {
    /** Create an API key for yourself or for an operator you are super_manager of. `POST /operators/{operator_id}/api_keys` */
    create(args: { readonly operatorId: string; readonly body: CreateApiKeyRequest }, options?: CallOptions): Call<NewApiKey>;
    /** List the API keys of an operator, without their secrets. `GET /operators/{operator_id}/api_keys` */
    list(args: { readonly operatorId: string }, options?: CallOptions): Call<ListApiKeysResponse>;
    /** Delete an API key; tokens obtained with it stop working at once. `DELETE /operators/{operator_id}/api_keys/{key_id}` */
    delete(args: { readonly operatorId: string; readonly keyId: string }, options?: CallOptions): Call<null>;
  };
  readonly accessTokens: {
    /** Create a long-lived access token for yourself or for an operator you are super_manager of. `POST /operators/{operator_id}/access_tokens` */
    create(args: { readonly operatorId: string; readonly body: CreateAccessTokenRequest }, options?: CallOptions): Call<NewAccessToken>;
    /** List the unexpired access tokens of an operator, without their secrets. `GET /operators/{operator_id}/access_tokens` */
    list(args: { readonly operatorId: string }, options?: CallOptions): Call<ListAccessTokensResponse>;
    /** Delete an access token; it stops working at once. `DELETE /operators/{operator_id}/access_tokens/{access_token_id}` */
    delete(args: { readonly operatorId: string; readonly accessTokenId: string }, options?: CallOptions): Call<null>;
  };
  readonly applicationTokens: {
    /** Create an application token, which is used to create visitors. `POST /sites/{site_id}/application_tokens` */
    create(args: { readonly siteId: string; readonly body: CreateApplicationTokenRequest }, options?: CallOptions): Call<NewApplicationToken>;
    /** List the application tokens of a site: publishable tokens with their text, secret tokens without. `GET /sites/{site_id}/application_tokens` */
    list(args: { readonly siteId: string }, options?: CallOptions): Call<ListApplicationTokensResponse>;
    /** Delete an application token; it stops working at once. `DELETE /sites/{site_id}/application_tokens/{token_id}` */
    delete(args: { readonly siteId: string; readonly tokenId: string }, options?: CallOptions): Call<null>;
  };
  readonly sites: {
    /** List the sites that the caller has a role on. `GET /sites` */
    list(args?: { readonly hostname?: string; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListSitesResponse, ListSitesResponse['sites'][number]>;
    /** Create a site; the creator becomes its super_manager. `POST /sites` */
    create(args: { readonly body: CreateSiteRequest }, options?: CallOptions): Call<Site>;
    /** Get a site. `GET /sites/{site_id}` */
    get(args: { readonly siteId: string }, options?: CallOptions): Call<Site>;
    /** Change a site. `PATCH /sites/{site_id}` */
    update(args: { readonly siteId: string; readonly body: UpdateSiteRequest }, options?: CallOptions): Call<Site>;
    /** Delete a site, if it is empty or its name is sent as confirm. `DELETE /sites/{site_id}` */
    delete(args: { readonly confirm?: string; readonly siteId: string }, options?: CallOptions): Call<null>;
    /** Whether a queue admits visitors now, and for which media. `GET /sites/{site_id}/availability` */
    availability(args: { readonly queueIds?: readonly (string)[]; readonly siteId: string }, options?: CallOptions): Call<SiteAvailability>;
  };
  readonly teams: {
    /** List the teams of the sites that the caller manages. `GET /teams` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListTeamsResponse, ListTeamsResponse['teams'][number]>;
    /** Create a team. `POST /teams` */
    create(args: { readonly body: CreateTeamRequest }, options?: CallOptions): Call<Team>;
    /** Get a team. `GET /teams/{team_id}` */
    get(args: { readonly teamId: string }, options?: CallOptions): Call<Team>;
    /** Change a team. `PATCH /teams/{team_id}` */
    update(args: { readonly teamId: string; readonly body: UpdateTeamRequest }, options?: CallOptions): Call<Team>;
    /** Delete a team and every membership in it. `DELETE /teams/{team_id}` */
    delete(args: { readonly teamId: string }, options?: CallOptions): Call<null>;
  };
  readonly operators: {
    /** List the operators of the sites that the caller manages. `GET /operators` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly siteId?: string; readonly teamIds?: readonly (string)[]; readonly contains?: string; readonly includeOffline?: boolean; readonly includeDisabled?: boolean; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListOperatorsResponse, ListOperatorsResponse['operators'][number]>;
    /** Create an operator. `POST /operators` */
    create(args: { readonly body: CreateOperatorRequest }, options?: CallOptions): Call<Operator>;
    /** Get an operator; operators may read themselves. `GET /operators/{operator_id}` */
    get(args: { readonly operatorId: string }, options?: CallOptions): Call<Operator>;
    /** Change an operator; operators may change their own availability. `PATCH /operators/{operator_id}` */
    update(args: { readonly operatorId: string; readonly body: UpdateOperatorRequest }, options?: CallOptions): Call<Operator>;
    /** Disable an operator; their tokens stop working at once. `DELETE /operators/{operator_id}` */
    disable(args: { readonly operatorId: string }, options?: CallOptions): Call<null>;
    /** Get the picture of an operator; a new picture has a new URL. `GET /operator_pictures/{picture_id}` */
    getPicture(args: { readonly pictureId: string }, options?: CallOptions): Call<Response>;
    /** Set the picture that visitors see; operators may set their own. `PUT /operators/{operator_id}/picture` */
    setPicture(args: { readonly operatorId: string; readonly body: SetOperatorPictureRequest }, options?: CallOptions): Call<OperatorPicture>;
    /** Remove the picture of an operator; visitors see initials instead. `DELETE /operators/{operator_id}/picture` */
    deletePicture(args: { readonly operatorId: string }, options?: CallOptions): Call<OperatorPicture>;
    /** Set an operator's availability, until changed or for a time; operators may set their own. `PUT /operators/{operator_id}/presence` */
    setPresence(args: { readonly operatorId: string; readonly body: SetOperatorPresenceRequest }, options?: CallOptions): Call<Operator>;
    /** Presence intervals of the operators of the sites. `GET /operators/presence_intervals` */
    presenceIntervals(args: { readonly siteIds: readonly (string)[]; readonly operatorIds?: readonly (string)[]; readonly from: string; readonly to: string; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListPresenceIntervalsResponse, ListPresenceIntervalsResponse['presence_intervals'][number]>;
  };
  readonly colleagues: {
    /** List the operators of the caller's sites, by name, with what colleagues may see. `GET /colleagues` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly includeOffline?: boolean; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListColleaguesResponse, ListColleaguesResponse['colleagues'][number]>;
  };
  readonly auditLog: {
    /** List who changed what, newest first. `GET /audit_log` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly actorId?: string; readonly action?: string; readonly targetType?: string; readonly targetId?: string; readonly from?: string; readonly to?: string; readonly since?: string; readonly until?: string; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListAuditEntriesResponse, ListAuditEntriesResponse['audit_log'][number]>;
  };
  readonly visitors: {
    /** Create a visitor and their token. `POST /visitors` */
    create(args: { readonly body: CreateVisitorRequest }, options?: CallOptions): Call<VisitorToken>;
    /** List visitors by id, in no particular order; visitors on sites that the caller has no role on are left out. `GET /visitors` */
    list(args: { readonly ids: readonly (string)[] }, options?: CallOptions): Call<ListVisitorsResponse>;
    /** Renew a visitor's token, with that token or with a secret application token of the visitor's site. `POST /visitors/{visitor_id}/token` */
    renewToken(args: { readonly visitorId: string }, options?: CallOptions): Call<VisitorToken>;
    /** Get a visitor. `GET /sites/{site_id}/visitors/{visitor_id}` */
    get(args: { readonly siteId: string; readonly visitorId: string }, options?: CallOptions): Call<Visitor>;
    /** Change a visitor. `PATCH /sites/{site_id}/visitors/{visitor_id}` */
    update(args: { readonly siteId: string; readonly visitorId: string; readonly body: UpdateVisitorRequest }, options?: CallOptions): Call<Visitor>;
    /** Get the visitor of the token. `GET /visitor` */
    current(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<Visitor>;
    /** Move a visitor to another site of the account. `PATCH /visitors/{visitor_id}` */
    move(args: { readonly visitorId: string; readonly body: MoveVisitorRequest }, options?: CallOptions): Call<Visitor>;
    /** Renew the visitor's presence. `PUT /visitors/{visitor_id}/presence` */
    renewPresence(args: { readonly visitorId: string; readonly body: RenewVisitorPresenceRequest }, options?: CallOptions): Call<Visitor>;
  };
  readonly schedulingPolicies: {
    /** Scheduling policies of the sites. `GET /queues/scheduling_policies` */
    list(args: { readonly siteIds: readonly (string)[]; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListSchedulingPoliciesResponse, ListSchedulingPoliciesResponse['scheduling_policies'][number]>;
    /** Create a scheduling policy. `POST /queues/scheduling_policies` */
    create(args: { readonly siteId?: string; readonly body: CreateSchedulingPolicyRequest }, options?: CallOptions): Call<SchedulingPolicy>;
    /** One scheduling policy. `GET /queues/scheduling_policies/{scheduling_policy_id}` */
    get(args: { readonly schedulingPolicyId: string }, options?: CallOptions): Call<SchedulingPolicy>;
    /** Update a scheduling policy; optional fields that are left out keep their value. `PUT /queues/scheduling_policies/{scheduling_policy_id}` */
    update(args: { readonly schedulingPolicyId: string; readonly body: UpdateSchedulingPolicyRequest }, options?: CallOptions): Call<SchedulingPolicy>;
    /** Delete a scheduling policy that no queue uses. `DELETE /queues/scheduling_policies/{scheduling_policy_id}` */
    delete(args: { readonly schedulingPolicyId: string }, options?: CallOptions): Call<null>;
    /** Open intervals of a policy as instants, over at most 366 days. `GET /queues/scheduling_policies/{scheduling_policy_id}/preview` */
    openIntervals(args: { readonly from: string; readonly to: string; readonly schedulingPolicyId: string }, options?: CallOptions): Call<ListOpenIntervalsResponse>;
    /** Preview hours day by day, including daylight saving, without storing them. `POST /queues/scheduling_policies/preview` */
    preview(args: { readonly body: PreviewSchedulingPolicyRequest }, options?: CallOptions): Call<HoursOutlook>;
  };
  readonly queues: {
    /** Queues of the sites, with their current status. `GET /queues` */
    list(args: { readonly siteIds: readonly (string)[]; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListQueuesResponse, ListQueuesResponse['queues'][number]>;
    /** Create a queue; the response says closed, the next read its evaluated status. `POST /queues` */
    create(args: { readonly body: CreateQueueRequest }, options?: CallOptions): Call<Queue>;
    /** Preview a queue without saving it. `POST /queues/preview` */
    preview(args: { readonly body: PreviewQueueRequest }, options?: CallOptions): Call<QueuePreview>;
    /** One queue. `GET /queues/{queue_id}` */
    get(args: { readonly queueId: string }, options?: CallOptions): Call<Queue>;
    /** Update a queue; optional fields that are left out keep their value. `PUT /queues/{queue_id}` */
    update(args: { readonly queueId: string; readonly body: UpdateQueueRequest }, options?: CallOptions): Call<Queue>;
    /** Delete a queue that is empty and not in use. `DELETE /queues/{queue_id}` */
    delete(args: { readonly queueId: string }, options?: CallOptions): Call<null>;
    /** Ranks of operators in a queue. `GET /queues/{queue_id}/rankings` */
    rankings(args: { readonly queueId: string }, options?: CallOptions): Call<ListRankingsResponse>;
    /** Change ranks of operators in a queue; null removes an operator. `PATCH /queues/{queue_id}/rankings` */
    updateRankings(args: { readonly queueId: string; readonly body: UpdateRankingsRequest }, options?: CallOptions): Call<UpdateRankingsResponse>;
    /** Active tickets in a queue, in order. `GET /queues/{queue_id}/tickets` */
    tickets(args: { readonly page?: number; readonly perPage?: number; readonly queueId: string }, options?: CallOptions): PagedCall<ListTicketsOfQueueResponse, ListTicketsOfQueueResponse['queue_tickets'][number]>;
    /** Outcomes of the visitors who entered the queues of the sites, per interval. `GET /queues/stats` */
    stats(args: { readonly siteIds: readonly (string)[]; readonly queueIds?: readonly (string)[]; readonly from: string; readonly to: string; readonly serviceLevelSec?: number; readonly intervalSec?: number }, options?: CallOptions): Call<ListQueueStatsResponse>;
    /** Outcomes of the visitors who entered a queue in a range of at most 366 days. `GET /queues/{queue_id}/stats` */
    statsOf(args: { readonly from: string; readonly to: string; readonly serviceLevelSec?: number; readonly queueId: string }, options?: CallOptions): Call<QueueStats>;
  };
  readonly phoneChannels: {
    /** Phone channels of the sites. `GET /phone_channels` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListPhoneChannelsResponse, ListPhoneChannelsResponse['phone_channels'][number]>;
    /** Connect a phone channel to a queue. `POST /phone_channels` */
    create(args: { readonly body: CreatePhoneChannelRequest }, options?: CallOptions): Call<PhoneChannel>;
    /** One phone channel. `GET /phone_channels/{channel_id}` */
    get(args: { readonly channelId: string }, options?: CallOptions): Call<PhoneChannel>;
    /** Change a phone channel. `PATCH /phone_channels/{channel_id}` */
    update(args: { readonly channelId: string; readonly body: UpdatePhoneChannelRequest }, options?: CallOptions): Call<PhoneChannel>;
    /** Delete a phone channel. `DELETE /phone_channels/{channel_id}` */
    delete(args: { readonly channelId: string }, options?: CallOptions): Call<null>;
  };
  readonly digitalChannels: {
    /** Digital channels of the sites. `GET /digital_channels` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListDigitalChannelsResponse, ListDigitalChannelsResponse['digital_channels'][number]>;
    /** Connect a digital channel to a queue. `POST /digital_channels` */
    create(args: { readonly body: CreateDigitalChannelRequest }, options?: CallOptions): Call<DigitalChannel>;
    /** One digital channel. `GET /digital_channels/{channel_id}` */
    get(args: { readonly channelId: string }, options?: CallOptions): Call<DigitalChannel>;
    /** Change a digital channel. `PATCH /digital_channels/{channel_id}` */
    update(args: { readonly channelId: string; readonly body: UpdateDigitalChannelRequest }, options?: CallOptions): Call<DigitalChannel>;
    /** Delete a digital channel. `DELETE /digital_channels/{channel_id}` */
    delete(args: { readonly channelId: string }, options?: CallOptions): Call<null>;
  };
  readonly queueTickets: {
    /** Enqueue: wait for an operator. `POST /queue_tickets` */
    create(args: { readonly body: CreateQueueTicketRequest }, options?: CallOptions): Call<NewQueueTicket>;
    /** Active tickets of the sites, in the order of enqueueing. `GET /queue_tickets` */
    list(args: { readonly siteIds: readonly (string)[]; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListQueueTicketsResponse, ListQueueTicketsResponse['queue_tickets'][number]>;
    /** One ticket. `GET /queue_tickets/{ticket_id}` */
    get(args: { readonly ticketId: string }, options?: CallOptions): Call<QueueTicket>;
    /** Cancel a ticket. `PATCH /queue_tickets/{ticket_id}` */
    update(args: { readonly ticketId: string; readonly body: UpdateQueueTicketRequest }, options?: CallOptions): Call<QueueTicket>;
  };
  readonly statistics: {
    /** Average recent wait in the site's queues. `GET /engagements/queue/wait_duration` */
    recentWait(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<GetRecentWaitResponse>;
    /** How long engagements lasted. `GET /engagements/stats/duration` */
    engagementDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate: string; readonly endDate: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string }, options?: CallOptions): Call<GetEngagementDurationResponse>;
    /** How long engagements lasted. `POST /engagements/stats/duration` */
    queryEngagementDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate?: string; readonly endDate?: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string; readonly body: QueryEngagementDurationRequest }, options?: CallOptions): Call<QueryEngagementDurationResponse>;
    /** How long operators took to wrap up after engagements. `GET /engagements/stats/post_engagement_duration` */
    wrapUpDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate: string; readonly endDate: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string }, options?: CallOptions): Call<GetWrapUpDurationResponse>;
    /** How long operators took to wrap up after engagements. `POST /engagements/stats/post_engagement_duration` */
    queryWrapUpDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate?: string; readonly endDate?: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string; readonly body: QueryWrapUpDurationRequest }, options?: CallOptions): Call<QueryWrapUpDurationResponse>;
    /** How long visitors were in queues, by outcome. `GET /engagements/stats/queue/wait_duration` */
    waitDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate: string; readonly endDate: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string; readonly serviceLevelSec?: number; readonly shortDurationSec?: number }, options?: CallOptions): Call<GetWaitDurationResponse>;
    /** How long visitors were in queues, by outcome. `POST /engagements/stats/queue/wait_duration` */
    queryWaitDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate?: string; readonly endDate?: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string; readonly serviceLevelSec?: number; readonly shortDurationSec?: number; readonly body: QueryWaitDurationRequest }, options?: CallOptions): Call<QueryWaitDurationResponse>;
    /** Operators' online time by state. `GET /operators/stats/online_duration` */
    onlineDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate: string; readonly endDate: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string }, options?: CallOptions): Call<GetOnlineDurationResponse>;
    /** Operators' online time by state. `POST /operators/stats/online_duration` */
    queryOnlineDuration(args: { readonly queryType?: "group_by"; readonly dimensions?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly granularity?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly startDate?: string; readonly endDate?: string; readonly filter?: Readonly<Record<string, unknown>>; readonly timeZone?: string; readonly body: QueryOnlineDurationRequest }, options?: CallOptions): Call<QueryOnlineDurationResponse>;
    /** Average recent wait in the queues. `POST /reporting/live/queue/average_wait_time` */
    averageWaitTime(args: { readonly siteIds?: readonly (string)[]; readonly queueIds?: readonly (string)[]; readonly body: QueryAverageWaitTimeRequest }, options?: CallOptions): Call<QueryAverageWaitTimeResponse>;
  };
  readonly engagementRequests: {
    /** Request an engagement: a visitor names an operator, an operator a visitor. `POST /engagement_requests` */
    create(args: { readonly body: CreateEngagementRequestRequest }, options?: CallOptions): Call<NewEngagementRequest>;
    /** List the caller's requests, newest first; with site_ids, all requests of sites the caller manages. `GET /engagement_requests` */
    list(args?: { readonly state?: "pending" | "accepted" | "failed"; readonly siteIds?: readonly (string)[]; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListEngagementRequestsResponse, ListEngagementRequestsResponse['engagement_requests'][number]>;
    /** One request. `GET /engagement_requests/{request_id}` */
    get(args: { readonly requestId: string }, options?: CallOptions): Call<EngagementRequest>;
    /** Accept or decline, as the invited side; or cancel, as the requesting side. `PATCH /engagement_requests/{request_id}` */
    update(args: { readonly requestId: string; readonly body: UpdateEngagementRequestRequest }, options?: CallOptions): Call<EngagementRequest>;
    /** Request an engagement by SMS: the reply accepts it and becomes the first message. `POST /outbound_sms` */
    createBySms(args: { readonly body: CreateOutboundSmsRequest }, options?: CallOptions): Call<EngagementRequest>;
  };
  readonly engagements: {
    /** List engagements of sites, newest first. Managers see all, others their own. `GET /engagements` */
    list(args: { readonly siteIds: readonly (string)[]; readonly operatorIds?: readonly (string)[]; readonly visitorIds?: readonly (string)[]; readonly startDate?: string; readonly endDate?: string; readonly state?: "active" | "ended"; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListEngagementsResponse, ListEngagementsResponse['engagements'][number]>;
    /** List engagements of sites, newest first. Managers see all, others their own. `POST /engagements/search` */
    search(args: { readonly body: SearchEngagementsRequest }, options?: CallOptions): PagedCall<SearchEngagementsResponse, SearchEngagementsResponse['engagements'][number]>;
    /** One engagement. `GET /engagements/{engagement_id}` */
    get(args: { readonly engagementId: string }, options?: CallOptions): Call<Engagement>;
    /** End an engagement, as a participant. `PATCH /engagements/{engagement_id}` */
    update(args: { readonly engagementId: string; readonly body: UpdateEngagementRequest }, options?: CallOptions): Call<UpdateEngagementResponse>;
    /** List completed transfers of an engagement, oldest first. `GET /engagements/{engagement_id}/transfers` */
    transfers(args: { readonly engagementId: string }, options?: CallOptions): Call<ListTransfersResponse>;
    /** Hang up, or report that the call is connected, as a participant. `PATCH /engagements/{engagement_id}/calls/{call_id}` */
    updateCall(args: { readonly engagementId: string; readonly callId: string; readonly body: UpdateCallRequest }, options?: CallOptions): Call<EngagementCall>;
    /** Send a WebRTC signal to the other side. `POST /engagements/{engagement_id}/signals` */
    sendSignal(args: { readonly engagementId: string; readonly body: SendSignalRequest }, options?: CallOptions): Call<null>;
    /** Record a visitor event, under a name of your choice. `POST /engagements/{engagement_id}/events` */
    recordEvent(args: { readonly engagementId: string; readonly body: RecordVisitorEventRequest }, options?: CallOptions): Call<VisitorEvent>;
  };
  readonly transferRequests: {
    /** Transfer to another operator; the first operator stays until the other accepts. `POST /transfer_requests` */
    create(args: { readonly body: CreateTransferRequestRequest }, options?: CallOptions): Call<TransferRequest>;
    /** List transfers offered to the caller, newest first; with site_ids, all transfers of sites the caller manages. `GET /transfer_requests` */
    list(args?: { readonly state?: "pending" | "accepted" | "failed"; readonly siteIds?: readonly (string)[]; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListTransferRequestsResponse, ListTransferRequestsResponse['transfer_requests'][number]>;
    /** One transfer request. `GET /transfer_requests/{request_id}` */
    get(args: { readonly requestId: string }, options?: CallOptions): Call<TransferRequest>;
    /** Accept or decline, as the invited operator; or cancel, as the operator who has the engagement. `PATCH /transfer_requests/{request_id}` */
    update(args: { readonly requestId: string; readonly body: UpdateTransferRequestRequest }, options?: CallOptions): Call<TransferRequest>;
  };
  readonly transferTickets: {
    /** Transfer to a queue; the first operator stays until another accepts. `POST /transfer_tickets` */
    create(args: { readonly body: CreateTransferTicketRequest }, options?: CallOptions): Call<TransferTicket>;
    /** List waiting or offered transfers to queues of the sites, oldest first. `GET /transfer_tickets` */
    list(args: { readonly siteIds: readonly (string)[]; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListTransferTicketsResponse, ListTransferTicketsResponse['transfer_tickets'][number]>;
    /** One transfer ticket. `GET /transfer_tickets/{ticket_id}` */
    get(args: { readonly ticketId: string }, options?: CallOptions): Call<TransferTicket>;
    /** Cancel a transfer, as the operator who has the engagement. `PATCH /transfer_tickets/{ticket_id}` */
    update(args: { readonly ticketId: string; readonly body: UpdateTransferTicketRequest }, options?: CallOptions): Call<TransferTicket>;
  };
  readonly messages: {
    /** Send a message under an id (UUID v4) that the sender chooses. Sending it again has no effect. `PUT /engagements/{engagement_id}/chat_messages/{message_id}` */
    send(args: { readonly engagementId: string; readonly messageId: string; readonly body: SendMessageRequest }, options?: CallOptions): Call<ChatMessage>;
    /** Acknowledge a message, as the side it was sent to. `PATCH /engagements/{engagement_id}/chat_messages/{message_id}` */
    acknowledge(args: { readonly engagementId: string; readonly messageId: string; readonly body: AcknowledgeMessageRequest }, options?: CallOptions): Call<ChatMessage>;
    /** All messages, oldest first. Visitors do not see system messages. `GET /engagements/{engagement_id}/chat_transcript` */
    transcript(args: { readonly engagementId: string }, options?: CallOptions): Call<GetTranscriptResponse>;
    /** Send a message to the operator, as the system or as an assistant. `POST /engagements/{engagement_id}/system_messages` */
    sendSystemMessage(args: { readonly engagementId: string; readonly body: SendSystemMessageRequest }, options?: CallOptions): Call<ChatMessage>;
    /** Report that the caller is typing, or has stopped. `PUT /engagements/{engagement_id}/typing_indicator` */
    reportTyping(args: { readonly engagementId: string; readonly body: ReportTypingRequest }, options?: CallOptions): Call<null>;
  };
  readonly mediaUpgrades: {
    /** Request audio or video from the other side; a pending request is canceled. `POST /engagements/{engagement_id}/media_upgrade_requests` */
    create(args: { readonly engagementId: string; readonly body: CreateMediaUpgradeRequestRequest }, options?: CallOptions): Call<MediaUpgradeRequest>;
    /** List media upgrade requests, newest first, at most 100. `GET /engagements/{engagement_id}/media_upgrade_requests` */
    list(args: { readonly engagementId: string }, options?: CallOptions): Call<ListMediaUpgradeRequestsResponse>;
    /** Accept or decline, as the invited side; or cancel, as the requesting side. `PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}` */
    update(args: { readonly engagementId: string; readonly upgradeId: string; readonly body: UpdateMediaUpgradeRequestRequest }, options?: CallOptions): Call<MediaUpgradeRequest>;
    /** One media upgrade request. `GET /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}` */
    get(args: { readonly engagementId: string; readonly upgradeId: string }, options?: CallOptions): Call<MediaUpgradeRequest>;
  };
  readonly iceServers: {
    /** STUN and TURN servers for calls, with credentials. `GET /ice_servers` */
    get(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<IceServers>;
  };
  readonly files: {
    /** List the files of an engagement with the state of their scans, oldest first. `GET /engagements/{engagement_id}/files` */
    list(args: { readonly engagementId: string }, options?: CallOptions): Call<ListFilesResponse>;
    /** Download a clean file, with its content type, as an attachment. `GET /engagements/{engagement_id}/files/{file_id}` */
    download(args: { readonly engagementId: string; readonly fileId: string }, options?: CallOptions): Call<Response>;
    /** Delete a file: its bytes are removed, downloads answer 410, transcripts show it as deleted. `DELETE /engagements/{engagement_id}/files/{file_id}` */
    delete(args: { readonly engagementId: string; readonly fileId: string }, options?: CallOptions): Call<null>;
    /** List files of sites that wait for a scan, oldest first. `GET /files` */
    awaitingScan(args: { readonly siteIds: readonly (string)[]; readonly state: "pending"; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListFilesAwaitingScanResponse, ListFilesAwaitingScanResponse['files'][number]>;
    /** Set the result of a security scan, if USHER_SCANNER is manual. `PUT /files/{file_id}/security_scan` */
    setScanResult(args: { readonly fileId: string; readonly body: SetScanResultRequest }, options?: CallOptions): Call<File>;
  };
  readonly identityProviders: {
    /** Add an identity provider, with which visitors of the site can authenticate. `POST /sites/{site_id}/visitor_authentication_providers` */
    create(args: { readonly siteId: string; readonly body: CreateIdentityProviderRequest }, options?: CallOptions): Call<VisitorAuthenticationProvider>;
    /** Identity providers of a site. `GET /sites/{site_id}/visitor_authentication_providers` */
    list(args: { readonly siteId: string }, options?: CallOptions): Call<ListIdentityProvidersResponse>;
    /** One identity provider. `GET /sites/{site_id}/visitor_authentication_providers/{provider_id}` */
    get(args: { readonly siteId: string; readonly providerId: string }, options?: CallOptions): Call<VisitorAuthenticationProvider>;
    /** Delete an identity provider; its pending requests fail. `DELETE /sites/{site_id}/visitor_authentication_providers/{provider_id}` */
    delete(args: { readonly siteId: string; readonly providerId: string }, options?: CallOptions): Call<null>;
  };
  readonly visitorAuthentication: {
    /** Authenticate with an ID token, or with a code for one. `POST /visitor_authentication/requests` */
    create(args: { readonly body: CreateVisitorAuthenticationRequest }, options?: CallOptions): Call<CreateVisitorAuthenticationResponse>;
    /** One of the visitor's own authentication requests. `GET /visitor_authentication/requests/{authentication_request_id}` */
    get(args: { readonly authenticationRequestId: string }, options?: CallOptions): Call<VisitorAuthenticationRequest>;
  };
  readonly sipDomains: {
    /** SIP domains of the sites. `GET /sip_domains` */
    list(args?: { readonly siteIds?: readonly (string)[]; readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListSipDomainsResponse, ListSipDomainsResponse['sip_domains'][number]>;
    /** Add a SIP domain to a site. `POST /sip_domains` */
    create(args: { readonly body: CreateSipDomainRequest }, options?: CallOptions): Call<SipDomain>;
    /** One SIP domain. `GET /sip_domains/{sip_domain_id}` */
    get(args: { readonly sipDomainId: string }, options?: CallOptions): Call<SipDomain>;
    /** Delete a SIP domain. `DELETE /sip_domains/{sip_domain_id}` */
    delete(args: { readonly sipDomainId: string }, options?: CallOptions): Call<null>;
  };
  readonly events: {
    /** List events, newest first. `GET /events` */
    list(args?: { readonly eventType?: readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly from?: string; readonly to?: string; readonly since?: string; readonly until?: string; readonly engagementId?: string; readonly visitorId?: string; readonly siteIds?: readonly (string)[]; readonly cursor?: string; readonly perPage?: number }, options?: CallOptions): PagedCall<ListEventsResponse, ListEventsResponse['events'][number]>;
    /** List all event types, with JSON Schema and a sample. `GET /event_types` */
    types(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<ListEventTypesResponse>;
  };
  readonly webhooks: {
    /** List the webhooks of sites that the caller is super_manager of, and those that the caller registered. `GET /webhooks` */
    list(args?: { readonly page?: number; readonly perPage?: number }, options?: CallOptions): PagedCall<ListWebhooksResponse, ListWebhooksResponse['webhooks'][number]>;
    /** Register a webhook; its secret is shown only once. `POST /webhooks` */
    create(args: { readonly body: CreateWebhookRequest }, options?: CallOptions): Call<NewWebhook>;
    /** Get a webhook. `GET /webhooks/{webhook_id}` */
    get(args: { readonly webhookId: string }, options?: CallOptions): Call<Webhook>;
    /** Change a webhook; optional fields left out keep their value. `PUT /webhooks/{webhook_id}` */
    update(args: { readonly webhookId: string; readonly body: UpdateWebhookRequest }, options?: CallOptions): Call<Webhook>;
    /** Delete a webhook; waiting deliveries are discarded. `DELETE /webhooks/{webhook_id}` */
    delete(args: { readonly webhookId: string }, options?: CallOptions): Call<null>;
    /** Rotate the secret of a webhook; for a day requests are signed with the former secret too. `POST /webhooks/{webhook_id}/rotate_secret` */
    rotateSecret(args: { readonly webhookId: string; readonly body: RotateWebhookSecretRequest }, options?: CallOptions): Call<RotatedSecret>;
    /** Send a sample event to this webhook only. `POST /webhooks/{webhook_id}/test` */
    test(args: { readonly webhookId: string; readonly body: TestWebhookRequest }, options?: CallOptions): Call<SentTest>;
    /** Get the delivery stats of a webhook: attempts by interval, over at most 7 days, and the current backlog. `GET /webhooks/{webhook_id}/stats` */
    stats(args: { readonly from: string; readonly to: string; readonly interval?: number; readonly webhookId: string }, options?: CallOptions): Call<WebhookStats>;
  };
  readonly deliveries: {
    /** List the deliveries of a webhook, newest event first. `GET /webhooks/{webhook_id}/deliveries` */
    list(args: { readonly state?: "pending" | "retrying" | "held" | "delivered" | "exhausted" | "discarded"; readonly eventType?: "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; readonly from?: string; readonly to?: string; readonly since?: string; readonly until?: string; readonly matchingId?: string; readonly cursor?: string; readonly perPage?: number; readonly webhookId: string }, options?: CallOptions): PagedCall<ListDeliveriesResponse, ListDeliveriesResponse['deliveries'][number]>;
    /** Get a delivery with its event and its attempts. `GET /deliveries/{delivery_id}` */
    get(args: { readonly deliveryId: string }, options?: CallOptions): Call<DeliveryDetails>;
    /** Send a delivery again, now and out of order. `POST /deliveries/{delivery_id}/replay` */
    replay(args: { readonly deliveryId: string; readonly body: ReplayDeliveryRequest }, options?: CallOptions): Call<Delivery>;
  };
  readonly recoveries: {
    /** Recover what the webhook has missed. `POST /webhooks/{webhook_id}/recover` */
    create(args: { readonly webhookId: string; readonly body: RecoverWebhookRequest }, options?: CallOptions): Call<WebhookRecovery>;
    /** List the recoveries of a webhook, newest first. `GET /webhooks/{webhook_id}/recoveries` */
    list(args: { readonly cursor?: string; readonly perPage?: number; readonly webhookId: string }, options?: CallOptions): PagedCall<ListRecoveriesResponse, ListRecoveriesResponse['recoveries'][number]>;
    /** Get a recovery and its progress. `GET /webhooks/{webhook_id}/recoveries/{recovery_id}` */
    get(args: { readonly webhookId: string; readonly recoveryId: string }, options?: CallOptions): Call<WebhookRecovery>;
  };
  readonly sampleData: {
    /** Whether the account has sample data. `GET /sample_data` */
    get(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<SampleData>;
    /** Create a sample site with teams, queues, operators and simulated visitors; one per account. `POST /sample_data` */
    create(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<SampleData>;
    /** Pause or resume the sample data. `PATCH /sample_data` */
    update(args: { readonly body: UpdateSampleDataRequest }, options?: CallOptions): Call<SampleData>;
    /** Delete the sample data with its history. `DELETE /sample_data` */
    delete(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<SampleData>;
  };
  readonly service: {
    /** Whether the process runs. `GET /healthz` */
    health(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<GetHealthResponse>;
    /** The version of Usher that this process runs, its commit, and the version of the schema that it needs. `GET /version` */
    version(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<GetVersionResponse>;
    /** Whether the database responds, has a schema that this process can use, and accepts writes. `GET /readyz` */
    readiness(args?: Readonly<Record<never, never>>, options?: CallOptions): Call<GetReadinessResponse>;
  };
}
