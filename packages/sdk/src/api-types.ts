// Written by `npm run openapi` from openapi.json: change the schemas of the server instead.
export type AcceptInvitationRequest = { readonly "invitation": string; readonly "password": string; };
export type AccessToken = { readonly "id": string; readonly "name": string; readonly "created_at": string; readonly "expires_at": string | null; readonly "last_used_at": string | null; };
export type AcknowledgeMessageRequest = { readonly "status": "delivered"; };
export type ApiKey = { readonly "id": string; readonly "created_at": string; };
export type ApplicationToken = { readonly "id": string; readonly "kind": "secret" | "publishable"; readonly "created_at": string; readonly "token": string | null; };
export type AttachedWebhook = { readonly "url": string; readonly "method"?: "POST" | "PUT" | "PATCH" | "DELETE"; readonly "headers"?: Readonly<Record<string, string>>; readonly "events": readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly "messages"?: "own" | "other" | "all"; readonly "secret"?: string; };
export type AuditEntry = { readonly "id": string; readonly "at": string; readonly "site_ids": readonly (string)[] | null; readonly "actor": { readonly "type": "operator" | "visitor"; readonly "id": string; readonly "name": string; }; readonly "via": string; readonly "action": string; readonly "target": { readonly "type": string; readonly "id": string; readonly "name": string | null; }; readonly "changes": readonly ({ readonly "field": string; readonly "before"?: unknown; readonly "after"?: unknown; readonly "hidden"?: boolean; readonly "shortened"?: boolean; })[]; readonly "request_id": string; };
export type ChatMessage = { readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "timestamp": string; readonly "content": string; readonly "status": "sent" | "delivered"; readonly "sender": { readonly "type": "visitor" | "operator" | "system" | "omniguide"; readonly "id": string | null; }; readonly "target": "visitor" | "operator"; readonly "type": "chat" | "system_message" | "visitor_authentication"; readonly "attachment": Readonly<Record<string, unknown>> | null; readonly "metadata": Readonly<Record<string, unknown>> | null; readonly "created_at": string; readonly "updated_at": string; };
export type ChatMessageDottedStatusEvent = { readonly "event_type": "engagement.chat.message.status"; readonly "event_id": string; readonly "dispatched_at": string; readonly "message": { readonly "timestamp": string; readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "content": string; readonly "status": "delivered"; readonly "sender": { readonly "type": "visitor" | "operator"; }; readonly "target": "visitor" | "operator"; readonly "type": "chat"; readonly "attachment": SingleChoiceAttachment | SingleChoiceResponseAttachment | null; }; };
export type ChatMessageDottedStatusItem = { readonly "type": "engagement.chat.message.status"; readonly "data": ChatMessageDottedStatusEvent; };
export type ChatMessageEvent = { readonly "event_type": "engagement.chat.message"; readonly "event_id": string; readonly "dispatched_at": string; readonly "message": { readonly "timestamp": string; readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "content": string; readonly "status": "sent"; readonly "sender": { readonly "type": "visitor" | "operator"; }; readonly "target": "visitor" | "operator"; readonly "type": "chat"; readonly "attachment": SingleChoiceAttachment | SingleChoiceResponseAttachment | FilesAttachment | null; }; readonly "undelivered_messages": boolean; };
export type ChatMessageItem = { readonly "type": "engagement.chat.message"; readonly "data": ChatMessageEvent; };
export type ChatMessageStatusEvent = { readonly "event_type": "engagement.chat.message_status"; readonly "event_id": string; readonly "dispatched_at": string; readonly "message": { readonly "timestamp": string; readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "content": string; readonly "status": "delivered"; readonly "sender": { readonly "type": "visitor" | "operator"; }; readonly "target": "visitor" | "operator"; readonly "type": "chat"; readonly "attachment": SingleChoiceAttachment | SingleChoiceResponseAttachment | null; }; };
export type ChatMessageStatusItem = { readonly "type": "engagement.chat.message_status"; readonly "data": ChatMessageStatusEvent; };
export type Colleague = { readonly "id": string; readonly "name": string; readonly "available": boolean; readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "site_ids": readonly (string)[]; readonly "teams": readonly ({ readonly "id": string; readonly "site_id": string; readonly "name": string; })[]; };
export type CompletedTransfer = { readonly "id": string; readonly "from_operator_id": string; readonly "from_operator_name": string | null; readonly "operator_id": string; readonly "message": string | null; readonly "transferred_at": string; };
export type CreateAccessTokenRequest = { readonly "name": string; readonly "expires_at"?: string | null; };
export type CreateApiKeyRequest = {  };
export type CreateApplicationTokenRequest = { readonly "kind": "secret" | "publishable"; };
export type CreateDigitalChannelRequest = { readonly "site_id": string; readonly "kind": string; readonly "address": string; readonly "queue_id": string; };
export type CreateEngagementRequestRequest = { readonly "site_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "operator_id"?: string; readonly "visitor_id"?: string; readonly "source"?: string | null; readonly "media_options"?: { readonly "phone_number"?: string | null; readonly "one_way"?: boolean; } | null; readonly "webhooks"?: readonly (AttachedWebhook)[]; readonly "new_site_visitor"?: NewSiteVisitor; };
export type CreateIdentityProviderRequest = { readonly "name": string; readonly "type": "openid_connect"; readonly "issuer": string; readonly "client_id": string; readonly "client_secret"?: string; readonly "redirect_uris"?: readonly (string)[]; };
export type CreateInvitationRequest = {  };
export type CreateMediaUpgradeRequestRequest = { readonly "audio": "two_way" | null; readonly "video": "one_way" | "two_way" | null; readonly "audio_type"?: string | null; readonly "phone_number"?: string | null; readonly "phone_extension"?: string | null; };
export type CreateOperatorRequest = { readonly "name": string; readonly "email": string; readonly "display_name"?: string | null; readonly "role"?: "operator" | "manager" | "super_manager"; readonly "assignments"?: readonly ({ readonly "site_id": string; readonly "role"?: "operator" | "manager" | "super_manager"; readonly "team_ids"?: readonly (string)[]; })[]; readonly "max_engagement_count"?: number | null; readonly "enabled"?: boolean; readonly "password"?: string; readonly "password_confirmation"?: string; };
export type CreateOutboundSmsRequest = { readonly "site_id": string; readonly "from_number": string; readonly "to_number": string; readonly "message": string; };
export type CreatePhoneChannelRequest = { readonly "site_id": string; readonly "number": string; readonly "queue_id": string; };
export type CreateQueueRequest = { readonly "site_id": string; readonly "name": string; readonly "description"?: string | null; readonly "capacity"?: number | null; readonly "capacity_policy": { readonly "type": "fixed" | "variable"; readonly "capacity"?: number | null; readonly "multiplier"?: number | null; }; readonly "routing_policy": { readonly "media"?: readonly ("text" | "phone" | "audio" | "video")[]; readonly "team_ids"?: readonly (string)[]; }; readonly "when_unstaffed"?: "accept" | "reject" | null; readonly "operator_ranking_enabled"?: boolean | null; readonly "welcome_message"?: string | null; readonly "scheduling_policy_id"?: string | null; readonly "fallback_queue_id"?: string | null; readonly "operator_affinity"?: { readonly "time_window_sec": number; } | null; };
export type CreateQueueTicketRequest = { readonly "site_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids"?: readonly (string)[]; readonly "queue_id"?: string; readonly "team_ids"?: readonly (string)[]; readonly "source"?: string | null; readonly "media_options"?: { readonly "phone_number"?: string | null; readonly "one_way"?: boolean; } | null; readonly "webhooks"?: readonly (AttachedWebhook)[]; readonly "new_site_visitor"?: NewSiteVisitor; };
export type CreateSchedulingPolicyRequest = { readonly "site_id": string; readonly "name": string; readonly "description"?: string | null; readonly "timezone": string; readonly "business_hours": readonly ({ readonly "opens_at": string; readonly "closes_at": string; readonly "days_of_week": readonly (string)[]; })[]; readonly "exceptions"?: readonly ({ readonly "date": string; readonly "opens_at"?: string; readonly "closes_at"?: string; })[] | null; };
export type CreateSessionRequest = { readonly "email"?: string; readonly "password"?: string; readonly "api_key_id"?: string; readonly "api_key_secret"?: string; readonly "link"?: string; };
export type CreateSipDomainRequest = { readonly "site_id": string; readonly "domain": string; };
export type CreateSiteRequest = { readonly "name": string; readonly "addresses"?: readonly (string)[] | null; readonly "time_zone"?: string | null; readonly "reactive_call_timeout"?: number | null; readonly "proactive_call_timeout"?: number | null; readonly "missed_call_unavailability_enabled"?: boolean | null; readonly "calls_beside_chats"?: boolean | null; readonly "queue_ticket_timeout_sec"?: number | null; readonly "visitor_webhooks"?: boolean | null; readonly "allowed_file_content_types"?: readonly (string)[] | null; readonly "allowed_file_senders"?: { readonly "operator": boolean; readonly "visitor": boolean; } | null; readonly "allowed_origins"?: readonly (string)[] | null; readonly "visitor_limits"?: { readonly "new_visitors_per_minute": number; readonly "open_tickets_per_address": number; readonly "open_feeds_per_address": number; } | null; readonly "ticket_needs_presence"?: boolean | null; readonly "attached_webhook_messages"?: "own" | "other" | "all" | null; readonly "lenient_requests"?: boolean | null; };
export type CreateSiteTokenRequest = { readonly "api_key_id": string; readonly "api_key_secret": string; readonly "site_ids"?: readonly (string)[]; };
export type CreateSiteTokenResponse = { readonly "access_token": string; readonly "expires_in": number; };
export type CreateTeamRequest = { readonly "site_id": string; readonly "name": string; readonly "description"?: string | null; };
export type CreateTokenRequest = { readonly "api_key_id": string; readonly "api_key_secret": string; readonly "site_ids"?: readonly (string)[]; };
export type CreateTokenResponse = { readonly "token": string; readonly "expires_in": number; };
export type CreateTransferRequestRequest = { readonly "engagement_id": string; readonly "operator_id": string; readonly "media"?: "text" | "phone" | "audio" | "video"; readonly "message"?: string | null; readonly "webhooks"?: readonly (AttachedWebhook)[]; };
export type CreateTransferTicketRequest = { readonly "engagement_id": string; readonly "queue_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "message"?: string | null; readonly "webhooks"?: readonly (AttachedWebhook)[]; };
export type CreateVisitorAuthenticationRequest = { readonly "provider_id": string; readonly "id_token"?: string; readonly "code"?: string; readonly "redirect_uri"?: string; readonly "code_verifier"?: string; readonly "nonce"?: string; };
export type CreateVisitorAuthenticationResponse = { readonly "id": string; };
export type CreateVisitorRequest = { readonly "site_id"?: string; readonly "name"?: string | null; readonly "team_ids"?: readonly (string)[]; };
export type CreateWebhookRequest = { readonly "url": string; readonly "method"?: "POST" | "PUT" | "PATCH" | "DELETE" | null; readonly "headers"?: Readonly<Record<string, string>> | null; readonly "events": readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly "site_ids"?: readonly (string)[] | null; readonly "description"?: string | null; readonly "ordering"?: "engagement" | "none" | null; readonly "enabled"?: boolean | null; readonly "filter"?: Readonly<Record<string, unknown>> | null; readonly "credentials"?: { readonly "user"?: string; readonly "password"?: string; readonly "token"?: string; } | null; readonly "secret"?: string | null; };
export type DeliveredEvent = { readonly "id": string; readonly "type": string; readonly "payload": Readonly<Record<string, unknown>> | null; };
export type Delivery = { readonly "id": string; readonly "webhook_id": string; readonly "engagement_id": string | null; readonly "event_id": string; readonly "event_type": "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; readonly "state": "pending" | "retrying" | "held" | "delivered" | "exhausted" | "discarded"; readonly "parked": boolean; readonly "next_attempt_at": string | null; readonly "occurred_at": string; readonly "created_at": string; readonly "finished_at": string | null; readonly "last_status": number | null; readonly "last_error": string | null; };
export type DeliveryAttempt = { readonly "at": string; readonly "state": "delivered" | "retrying" | "exhausted" | "held" | "discarded"; readonly "status": number | null; readonly "duration_ms": number | null; readonly "answer": string | null; readonly "error": string | null; };
export type DeliveryDetails = { readonly "id": string; readonly "webhook_id": string; readonly "engagement_id": string | null; readonly "event_id": string; readonly "event_type": "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; readonly "state": "pending" | "retrying" | "held" | "delivered" | "exhausted" | "discarded"; readonly "parked": boolean; readonly "next_attempt_at": string | null; readonly "occurred_at": string; readonly "created_at": string; readonly "finished_at": string | null; readonly "event": DeliveredEvent; readonly "attempts": readonly (DeliveryAttempt)[]; };
export type DigitalChannel = { readonly "id": string; readonly "site_id": string; readonly "kind": string; readonly "address": string; readonly "queue_id": string; readonly "created_at": string; readonly "updated_at": string; };
export type EngagedOperator = { readonly "id": string; readonly "display_name": string; readonly "picture_url": string | null; };
export type Engagement = { readonly "id": string; readonly "engagement_request_id": string; readonly "queue_ticket_id": string | null; readonly "queue_id": string | null; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "state": "active" | "ended"; readonly "end_reason": "visitor_hung_up" | "operator_hung_up" | "visitor_left" | "operator_left" | "error" | null; readonly "current_sub_engagement": SubEngagement; readonly "sub_engagements": readonly (SubEngagement)[]; readonly "started_at": string; readonly "ended_at": string | null; readonly "created_at": string; readonly "updated_at": string; readonly "source": string | null; readonly "legs": readonly (EngagementLeg)[]; readonly "operators": readonly (EngagedOperator)[]; readonly "audio_recording_urls": readonly (string)[]; readonly "calls": readonly (EngagementCall)[]; };
export type EngagementCall = { readonly "id": string; readonly "sub_engagement_id": string; readonly "started_at": string; readonly "connected_at": string | null; readonly "ended_at": string | null; readonly "ended_by": "visitor" | "operator" | null; };
export type EngagementEndEvent = { readonly "event_type": "engagement.end"; readonly "event_id": string; readonly "dispatched_at": string; readonly "engagement": { readonly "id": string; readonly "engagement_request_id": string; readonly "visitor_id": string; readonly "current_sub_engagement": { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; }; readonly "end_reason": "visitor_hung_up" | "operator_hung_up" | "visitor_left" | "operator_left" | "error"; }; };
export type EngagementEndItem = { readonly "type": "engagement.end"; readonly "data": EngagementEndEvent; };
export type EngagementLeg = { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; readonly "media": "text" | "phone" | "audio" | "video" | null; readonly "started_at": string; readonly "ended_at": string | null; };
export type EngagementRequest = { readonly "id": string; readonly "origin": "queue" | "visitor" | "operator"; readonly "platform": string; readonly "source": string | null; readonly "media_options": { readonly "phone_number"?: string | null; readonly "one_way"?: boolean; } | null; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "state": "pending" | "accepted" | "failed"; readonly "fail_reason": "rejected" | "timed_out" | "visitor_left" | "visitor_cancel" | "operator_left" | "operator_cancel" | "error" | null; readonly "fail_message": string | null; readonly "timeout": number; readonly "queue_ticket_id": string | null; readonly "queue_id": string | null; readonly "engagement_id": string | null; readonly "created_at": string; readonly "updated_at": string; };
export type EngagementRequestDeliverEvent = { readonly "event_type": "engagement.request.deliver"; readonly "event_id": string; readonly "dispatched_at": string; readonly "engagement_request": { readonly "id": string; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; }; };
export type EngagementRequestDeliverItem = { readonly "type": "engagement.request.deliver"; readonly "data": EngagementRequestDeliverEvent; };
export type EngagementRequestFailureEvent = { readonly "event_type": "engagement.request.failure"; readonly "event_id": string; readonly "dispatched_at": string; readonly "engagement_request": { readonly "id": string; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; readonly "fail_reason": "rejected" | "timed_out" | "visitor_left" | "visitor_cancel" | "operator_left" | "operator_cancel"; } | { readonly "id": string; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; readonly "fail_reason": "error"; readonly "fail_message": string | null; }; };
export type EngagementRequestFailureItem = { readonly "type": "engagement.request.failure"; readonly "data": EngagementRequestFailureEvent; };
export type EngagementRequestStateItem = { readonly "type": "engagement_request.state"; readonly "data": EngagementRequest; };
export type EngagementSignalItem = { readonly "type": "engagement.signal"; readonly "data": { readonly "engagement_id": string; readonly "sender": { readonly "type": "visitor" | "operator"; }; readonly "call_id": string; readonly "kind": "ready" | "description" | "candidate" | "state" | "hangup"; readonly "data": {  } | null; readonly "sent_at": string; }; };
export type EngagementStartEvent = { readonly "event_type": "engagement.start"; readonly "event_id": string; readonly "dispatched_at": string; readonly "engagement": { readonly "id": string; readonly "engagement_request_id": string; readonly "visitor_id": string; readonly "current_sub_engagement": { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; }; readonly "source": string; readonly "legs": readonly ({ readonly "id": string; readonly "operator_id": string; readonly "site_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "started_at": string; readonly "ended_at": null; })[]; readonly "audio_recording_urls": readonly (string)[]; }; };
export type EngagementStartItem = { readonly "type": "engagement.start"; readonly "data": EngagementStartEvent; };
export type EngagementStateItem = { readonly "type": "engagement.state"; readonly "data": Engagement; };
export type EngagementTransferEvent = { readonly "event_type": "engagement.transfer"; readonly "event_id": string; readonly "dispatched_at": string; readonly "engagement": { readonly "id": string; readonly "engagement_request_id": string; readonly "transfer_request_id": string; readonly "visitor_id": string; readonly "previous_sub_engagement": { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; }; readonly "current_sub_engagement": { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; }; }; };
export type EngagementTransferItem = { readonly "type": "engagement.transfer"; readonly "data": EngagementTransferEvent; };
export type EventType = { readonly "event_type": "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; readonly "description": string; readonly "schema": Readonly<Record<string, unknown>>; readonly "sample": Readonly<Record<string, unknown>>; };
export type ExchangeSessionCookieRequest = {  };
export type FeedItem = FeedOpenItem | FeedResetItem | QueueTicketStateItem | EngagementRequestStateItem | TransferRequestStateItem | TransferTicketStateItem | EngagementStateItem | OperatorStateItem | QueueStateItem | MediaUpgradeRequestStateItem | FileStateItem | EngagementSignalItem | EngagementRequestFailureItem | EngagementRequestDeliverItem | EngagementStartItem | EngagementEndItem | EngagementTransferItem | ChatMessageItem | ChatMessageDottedStatusItem | ChatMessageStatusItem | SystemMessageItem | OperatorTypingItem | VisitorTypingItem | MediaUpgradeRequestItem | VisitorEventItem | VisitorAuthenticationSuccessItem | VisitorAuthenticationFailureItem | SipDomainDeleteItem | FileScanResultItem | WebhookFailingItem | WebhookDisabledItem | WebhookRecoveredItem | TicketCreatedItem | TicketOfferedItem | TicketEndedItem | OperatorPresenceItem | QueueStatusItem;
export type FeedOpenItem = { readonly "type": "feed.open"; readonly "data": { readonly "resumed": boolean; }; };
export type FeedResetItem = { readonly "type": "feed.reset"; readonly "data": { readonly "reason": "unknown_id" | "moves_unknown" | "access_changed"; }; };
export type File = { readonly "id": string; readonly "engagement_id": string; readonly "name": string; readonly "content_type": string; readonly "bytes": number; readonly "uploaded_by": "visitor" | "operator"; readonly "uploader_id": string; readonly "state": "pending" | "clean" | "infected"; readonly "created_at": string; readonly "scanned_at": string | null; readonly "deleted": boolean; readonly "deleted_at": string | null; readonly "deleted_by": "visitor" | "operator" | null; };
export type FileScanResultEvent = { readonly "event_type": "engagement.files.security_scan_result"; readonly "event_id": string; readonly "dispatched_at": string; readonly "security_scan_result": { readonly "file_id": string; readonly "result": "clean" | "infected"; }; };
export type FileScanResultItem = { readonly "type": "engagement.files.security_scan_result"; readonly "data": FileScanResultEvent; };
export type FileStateItem = { readonly "type": "file.state"; readonly "data": File; };
export type FilesAttachment = { readonly "type": "files"; readonly "files": readonly ({ readonly "url": string; readonly "name": string; readonly "content_type": string; readonly "deleted": boolean; })[]; };
export type GetCurrentSessionResponse = { readonly "operator_id": string; readonly "site_roles": Readonly<Record<string, "operator" | "manager" | "super_manager">>; readonly "expires_at": string | null; readonly "session_id": string | null; };
export type GetEngagementDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; readonly "count": number; readonly "average_duration_in_seconds": number; readonly "total_duration_in_seconds": number; })[];
export type GetHealthResponse = { readonly "status": string; };
export type GetOnlineDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; })[];
export type GetReadinessResponse = { readonly "status": string; };
export type GetRecentWaitResponse = { readonly "average_duration_in_seconds": number; };
export type GetTranscriptResponse = readonly (TranscriptMessage)[];
export type GetVersionResponse = { readonly "version": string; readonly "commit": string | null; readonly "schema": number; };
export type GetWaitDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; readonly "count": number; readonly "average_duration_in_seconds": number; readonly "total_duration_in_seconds": number; readonly "maximum_duration_in_seconds": number; readonly "short_duration_count": number; readonly "within_service_level_count": number; })[];
export type GetWrapUpDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; readonly "count": number; readonly "average_duration_in_seconds": number; readonly "total_duration_in_seconds": number; })[];
export type HoursOutlook = { readonly "open": boolean; readonly "next_change_at": string | null; readonly "days": readonly ({ readonly "date": string; readonly "starts_at": string; readonly "ends_at": string; })[]; readonly "intervals": readonly ({ readonly "opens_at": string; readonly "closes_at": string; })[]; readonly "clock_changes": readonly ({ readonly "at": string; readonly "offset_before_sec": number; readonly "offset_after_sec": number; })[]; readonly "next_clock_change_at": string | null; };
export type IceServers = { readonly "ice_servers": readonly ({ readonly "urls": readonly (string)[]; readonly "username"?: string; readonly "credential"?: string; })[]; readonly "expires_in": number; };
export type Invitation = { readonly "id": string; readonly "created_at": string; readonly "expires_at": string; };
export type InvitationPreview = { readonly "name": string; readonly "email": string; readonly "expires_at": string; };
export type ListAccessTokensResponse = { readonly "access_tokens": readonly (AccessToken)[]; };
export type ListApiKeysResponse = { readonly "api_keys": readonly (ApiKey)[]; };
export type ListApplicationTokensResponse = { readonly "application_tokens": readonly (ApplicationToken)[]; };
export type ListAuditEntriesResponse = { readonly "audit_log": readonly (AuditEntry)[]; readonly "next_page": string | null; };
export type ListColleaguesResponse = { readonly "colleagues": readonly (Colleague)[]; readonly "next_page": string | null; };
export type ListDeliveriesResponse = { readonly "deliveries": readonly (Delivery)[]; readonly "next_page": string | null; };
export type ListDigitalChannelsResponse = { readonly "digital_channels": readonly (DigitalChannel)[]; readonly "next_page": string | null; };
export type ListEngagementRequestsResponse = { readonly "engagement_requests": readonly (EngagementRequest)[]; readonly "next_page": string | null; };
export type ListEngagementsResponse = { readonly "engagements": readonly (Engagement)[]; readonly "next_page": string | null; };
export type ListEventTypesResponse = { readonly "event_types": readonly (EventType)[]; };
export type ListEventsResponse = { readonly "events": readonly (LoggedEvent)[]; readonly "next_page": string | null; };
export type ListFilesAwaitingScanResponse = { readonly "files": readonly (File)[]; readonly "next_page": string | null; };
export type ListFilesResponse = { readonly "files": readonly (File)[]; readonly "accepts": { readonly "content_types": readonly (string)[]; readonly "max_bytes": number; } | null; };
export type ListIdentityProvidersResponse = { readonly "visitor_authentication_providers": readonly (VisitorAuthenticationProvider)[]; };
export type ListInvitationsResponse = { readonly "invitations": readonly (Invitation)[]; };
export type ListMediaUpgradeRequestsResponse = { readonly "media_upgrade_requests": readonly (MediaUpgradeRequest)[]; };
export type ListOpenIntervalsResponse = { readonly "intervals": readonly ({ readonly "opens_at": string; readonly "closes_at": string; })[]; };
export type ListOperatorsResponse = { readonly "operators": readonly (Operator)[]; readonly "next_page": string | null; readonly "last_page": string; };
export type ListPhoneChannelsResponse = { readonly "phone_channels": readonly (PhoneChannel)[]; readonly "next_page": string | null; };
export type ListPresenceIntervalsResponse = { readonly "presence_intervals": readonly (PresenceInterval)[]; readonly "next_page": string | null; };
export type ListQueueStatsResponse = { readonly "from": string; readonly "to": string; readonly "interval_sec": number; readonly "service_level_sec": number; readonly "intervals": readonly (QueueStatsInterval)[]; };
export type ListQueueTicketsResponse = { readonly "queue_tickets": readonly (QueueTicket)[]; readonly "next_page": string | null; };
export type ListQueuesResponse = { readonly "queues": readonly (Queue)[]; readonly "next_page": string | null; };
export type ListRankingsResponse = { readonly "operators": readonly (Ranking)[]; };
export type ListRecoveriesResponse = { readonly "recoveries": readonly (WebhookRecovery)[]; readonly "next_page": string | null; };
export type ListSchedulingPoliciesResponse = { readonly "scheduling_policies": readonly (SchedulingPolicy)[]; readonly "next_page": string | null; };
export type ListSessionsResponse = { readonly "sessions": readonly (Session)[]; };
export type ListSipDomainsResponse = { readonly "sip_domains": readonly (SipDomain)[]; readonly "next_page": string | null; };
export type ListSitesResponse = { readonly "sites": readonly (Site)[]; readonly "next_page": string | null; };
export type ListTeamsResponse = { readonly "teams": readonly (Team)[]; readonly "next_page": string | null; };
export type ListTicketsOfQueueResponse = { readonly "queue_tickets": readonly (QueueTicket)[]; readonly "next_page": string | null; };
export type ListTransferRequestsResponse = { readonly "transfer_requests": readonly (TransferRequest)[]; readonly "next_page": string | null; };
export type ListTransferTicketsResponse = { readonly "transfer_tickets": readonly (TransferTicket)[]; readonly "next_page": string | null; };
export type ListTransfersResponse = { readonly "transfers": readonly (CompletedTransfer)[]; };
export type ListVisitorsResponse = { readonly "visitors": readonly (Visitor)[]; };
export type ListWebhooksResponse = { readonly "webhooks": readonly (Webhook)[]; readonly "next_page": string | null; };
export type LoggedEvent = { readonly "id": string; readonly "type": "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; readonly "occurred_at": string; readonly "site_id": string | null; readonly "engagement_id": string | null; readonly "visitor_id": string | null; readonly "operator_id": string | null; readonly "event": WebhookEvent; };
export type MediaUpgradeRequest = { readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "audio": "two_way" | null; readonly "video": "one_way" | "two_way" | null; readonly "target": "visitor" | "operator"; readonly "state": "pending" | "accepted" | "declined" | "canceled"; readonly "created_at": string; readonly "updated_at": string; readonly "audio_type": string | null; readonly "phone_number": string | null; readonly "phone_extension": string | null; };
export type MediaUpgradeRequestEvent = { readonly "event_type": "engagement.media_upgrade_request"; readonly "event_id": string; readonly "dispatched_at": string; readonly "media_upgrade_request": { readonly "id": string; readonly "audio": "two_way" | null; readonly "video": "one_way" | "two_way" | null; readonly "target": "visitor" | "operator"; readonly "engagement_id": string; readonly "sub_engagement_id": string; }; };
export type MediaUpgradeRequestItem = { readonly "type": "engagement.media_upgrade_request"; readonly "data": MediaUpgradeRequestEvent; };
export type MediaUpgradeRequestStateItem = { readonly "type": "media_upgrade_request.state"; readonly "data": MediaUpgradeRequest; };
export type MoveVisitorRequest = { readonly "site_id": string; };
export type NewAccessToken = { readonly "id": string; readonly "name": string; readonly "created_at": string; readonly "expires_at": string | null; readonly "last_used_at": string | null; readonly "token": string; };
export type NewApiKey = { readonly "id": string; readonly "created_at": string; readonly "secret": string; };
export type NewApplicationToken = { readonly "id": string; readonly "kind": "secret" | "publishable"; readonly "created_at": string; readonly "token": string; };
export type NewEngagementRequest = { readonly "id": string; readonly "origin": "queue" | "visitor" | "operator"; readonly "platform": string; readonly "source": string | null; readonly "media_options": { readonly "phone_number"?: string | null; readonly "one_way"?: boolean; } | null; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "state": "pending" | "accepted" | "failed"; readonly "fail_reason": "rejected" | "timed_out" | "visitor_left" | "visitor_cancel" | "operator_left" | "operator_cancel" | "error" | null; readonly "fail_message": string | null; readonly "timeout": number; readonly "queue_ticket_id": string | null; readonly "queue_id": string | null; readonly "engagement_id": string | null; readonly "created_at": string; readonly "updated_at": string; readonly "visitor_authentication"?: VisitorAuthentication; };
export type NewInvitation = { readonly "id": string; readonly "created_at": string; readonly "expires_at": string; readonly "url": string; };
export type NewQueueTicket = { readonly "id": string; readonly "site_id": string; readonly "visitor_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids": readonly (string)[]; readonly "state": "waiting" | "offered" | "engaged" | "canceled" | "visitor_left" | "unstaffed" | "expired"; readonly "position": number | null; readonly "estimated_wait_sec": number | null; readonly "engagement_id": string | null; readonly "created_at": string; readonly "updated_at": string; readonly "visitor_authentication"?: VisitorAuthentication; };
export type NewSiteVisitor = { readonly "site_id"?: string; readonly "name"?: string | null; readonly "team_ids"?: readonly (string)[]; };
export type NewWebhook = { readonly "id": string; readonly "url": string; readonly "method": "POST" | "PUT" | "PATCH" | "DELETE" | null; readonly "headers": Readonly<Record<string, string>> | null; readonly "has_credentials"?: boolean; readonly "events": readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly "site_ids": readonly (string)[] | null; readonly "description": string | null; readonly "ordering": "engagement" | "none"; readonly "enabled": boolean; readonly "disabled_because": "asked" | "gone" | "failing" | "token_ended" | null; readonly "disabled_at": string | null; readonly "failing_since": string | null; readonly "created_at": string; readonly "updated_at": string; readonly "registered_by": string | null; readonly "covered_site_ids": readonly (string)[]; readonly "filter": Readonly<Record<string, unknown>> | null; readonly "secret": string | null; };
export type Operator = { readonly "id": string; readonly "name": string; readonly "email": string; readonly "role": "operator" | "manager" | "super_manager"; readonly "assignments": readonly ({ readonly "site_id": string; readonly "role": "operator" | "manager" | "super_manager"; readonly "team_ids": readonly (string)[]; })[]; readonly "max_engagement_count": number; readonly "enabled": boolean; readonly "available": boolean; readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "presence_reason": string | null; readonly "presence_set_at": string | null; readonly "presence_expires_at": string | null; readonly "sign_in": { readonly "password": boolean; readonly "invited_until": string | null; }; readonly "display_name": string; readonly "picture_url": string | null; readonly "created_at": string; readonly "updated_at": string; readonly "href": string; };
export type OperatorPicture = { readonly "picture_url": string | null; };
export type OperatorPresenceEvent = { readonly "event_type": "operator.presence"; readonly "event_id": string; readonly "dispatched_at": string; readonly "operator": { readonly "id": string; readonly "available": boolean; readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "because": "set" | "expired" | "disabled"; readonly "reason": string | null; }; };
export type OperatorPresenceItem = { readonly "type": "operator.presence"; readonly "data": OperatorPresenceEvent; };
export type OperatorStateItem = { readonly "type": "operator.state"; readonly "data": { readonly "id": string; readonly "name": string; readonly "email": string; readonly "role": "operator" | "manager" | "super_manager"; readonly "assignments": readonly ({ readonly "site_id": string; readonly "role": "operator" | "manager" | "super_manager"; readonly "team_ids": readonly (string)[]; })[]; readonly "max_engagement_count": number; readonly "enabled": boolean; readonly "available": boolean; readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "presence_reason": string | null; readonly "presence_set_at": string | null; readonly "presence_expires_at": string | null; readonly "sign_in": { readonly "password": boolean; readonly "invited_until": string | null; }; readonly "display_name": string; readonly "picture_url": string | null; readonly "created_at": string; readonly "updated_at": string; }; };
export type OperatorTypingEvent = { readonly "event_type": "engagement.chat.typing_indicator.operator"; readonly "event_id": string; readonly "dispatched_at": string; readonly "typing_indicator": { readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "sender": { readonly "id": string; }; readonly "typing": boolean; readonly "clock": number; }; };
export type OperatorTypingItem = { readonly "type": "engagement.chat.typing_indicator.operator"; readonly "data": OperatorTypingEvent; };
export type PhoneChannel = { readonly "id": string; readonly "site_id": string; readonly "number": string; readonly "queue_id": string; readonly "created_at": string; readonly "updated_at": string; };
export type PresenceInterval = { readonly "operator_id": string; readonly "type": string; readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "reason": string | null; readonly "started_at": string; readonly "ended_at": string | null; };
export type PreviewInvitationRequest = { readonly "invitation": string; };
export type PreviewQueueRequest = { readonly "site_id": string; readonly "id"?: string; readonly "name": string; readonly "description"?: string | null; readonly "capacity"?: number | null; readonly "capacity_policy": { readonly "type": "fixed" | "variable"; readonly "capacity"?: number | null; readonly "multiplier"?: number | null; }; readonly "routing_policy": { readonly "media"?: readonly ("text" | "phone" | "audio" | "video")[]; readonly "team_ids"?: readonly (string)[]; }; readonly "when_unstaffed"?: "accept" | "reject" | null; readonly "operator_ranking_enabled"?: boolean | null; readonly "welcome_message"?: string | null; readonly "scheduling_policy_id"?: string | null; readonly "fallback_queue_id"?: string | null; readonly "operator_affinity"?: { readonly "time_window_sec": number; } | null; };
export type PreviewSchedulingPolicyRequest = { readonly "site_id": string; readonly "timezone": string; readonly "business_hours": readonly ({ readonly "opens_at": string; readonly "closes_at": string; readonly "days_of_week": readonly (string)[]; })[]; readonly "exceptions"?: readonly ({ readonly "date": string; readonly "opens_at"?: string; readonly "closes_at"?: string; })[] | null; readonly "from"?: string; readonly "days"?: number; };
export type Problem = { readonly "title": string; readonly "type": string; readonly "status": number; readonly "detail": string; readonly "error": string; readonly "message": string; readonly "details": readonly ({ readonly "attribute": string; readonly "detail": string; })[]; readonly "request_id": string; };
export type QueryAverageWaitTimeRequest = { readonly "site_ids"?: readonly (string)[]; readonly "queue_ids"?: readonly (string)[]; };
export type QueryAverageWaitTimeResponse = { readonly "total": number; };
export type QueryEngagementDurationRequest = { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
export type QueryEngagementDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; readonly "count": number; readonly "average_duration_in_seconds": number; readonly "total_duration_in_seconds": number; })[];
export type QueryOnlineDurationRequest = { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
export type QueryOnlineDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; })[];
export type QueryWaitDurationRequest = { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; readonly "service_level_sec"?: number; readonly "short_duration_sec"?: number; };
export type QueryWaitDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; readonly "count": number; readonly "average_duration_in_seconds": number; readonly "total_duration_in_seconds": number; readonly "maximum_duration_in_seconds": number; readonly "short_duration_count": number; readonly "within_service_level_count": number; })[];
export type QueryWrapUpDurationRequest = { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
export type QueryWrapUpDurationResponse = readonly ({ readonly "timestamp": string; readonly "seconds": number; readonly "site_id"?: string | null; readonly "queue_id"?: string | null; readonly "operator_id"?: string | null; readonly "team_id"?: string | null; readonly "type"?: string | null; readonly "end_reason"?: string | null; readonly "media"?: string | null; readonly "highest_operator_media"?: string | null; readonly "outcome"?: string | null; readonly "destination_queue_id"?: string | null; readonly "user_type"?: string | null; readonly "count": number; readonly "average_duration_in_seconds": number; readonly "total_duration_in_seconds": number; })[];
export type Queue = { readonly "id": string; readonly "site_id": string; readonly "name": string; readonly "description": string | null; readonly "capacity": number; readonly "capacity_policy": { readonly "type": "fixed" | "variable"; readonly "capacity"?: number; readonly "multiplier"?: number; }; readonly "routing_policy": { readonly "media"?: readonly ("text" | "phone" | "audio" | "video")[]; readonly "team_ids"?: readonly (string)[]; }; readonly "available_properties": { readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; }; readonly "status": "opened" | "closed" | "full" | "unstaffed"; readonly "self_status": "opened" | "closed" | "full" | "unstaffed"; readonly "when_unstaffed": "accept" | "reject"; readonly "operator_ranking_enabled": boolean; readonly "welcome_message": string | null; readonly "scheduling_policy_id": string | null; readonly "fallback_queue_id": string | null; readonly "operator_affinity": { readonly "time_window_sec": number; } | null; readonly "staffed": boolean; readonly "visitors_count": number; readonly "average_wait_time": number; readonly "created_at": string; readonly "updated_at": string; };
export type QueuePreview = { readonly "status": "opened" | "closed" | "full" | "unstaffed"; readonly "self_status": "opened" | "closed" | "full" | "unstaffed"; readonly "capacity": number; readonly "staff": number; readonly "visitors_count": number; readonly "available_properties": { readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; }; readonly "within_hours": boolean; readonly "hours_change_at": string | null; readonly "fallback_path": readonly ({ readonly "id": string; readonly "site_id": string; readonly "name": string | null; readonly "self_status": "opened" | "closed" | "full" | "unstaffed"; })[]; readonly "violations": readonly ({ readonly "attribute": string; readonly "detail": string; })[]; };
export type QueueStateItem = { readonly "type": "queue.state"; readonly "data": { readonly "id": string; readonly "site_id": string; readonly "capacity": number; readonly "available_properties": { readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; }; readonly "status": "opened" | "closed" | "full" | "unstaffed"; readonly "self_status": "opened" | "closed" | "full" | "unstaffed"; readonly "staffed": boolean; readonly "visitors_count": number; readonly "average_wait_time": number; readonly "updated_at": string; } | { readonly "id": string; readonly "site_id": string; readonly "available_properties": { readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; }; readonly "status": "opened" | "closed" | "full" | "unstaffed"; readonly "self_status": "opened" | "closed" | "full" | "unstaffed"; } | { readonly "id": string; readonly "site_id": string; readonly "deleted": true; }; };
export type QueueStats = { readonly "queue_id": string; readonly "from": string; readonly "to": string; readonly "service_level_sec": number; readonly "arrivals": number; readonly "waiting": number; readonly "engaged": number; readonly "engaged_elsewhere": number; readonly "abandoned": number; readonly "expired": number; readonly "unstaffed": number; readonly "rerouted": number; readonly "average_wait_sec": number | null; readonly "longest_wait_sec": number | null; readonly "within_service_level": number | null; };
export type QueueStatsInterval = { readonly "from": string; readonly "to": string; readonly "arrivals": number; readonly "waiting": number; readonly "engaged": number; readonly "engaged_elsewhere": number; readonly "abandoned": number; readonly "expired": number; readonly "unstaffed": number; readonly "rerouted": number; readonly "average_wait_sec": number | null; readonly "longest_wait_sec": number | null; readonly "within_service_level": number | null; };
export type QueueStatusEvent = { readonly "event_type": "queue.status"; readonly "event_id": string; readonly "dispatched_at": string; readonly "queue": { readonly "id": string; readonly "site_id": string; readonly "status": "opened" | "closed" | "full" | "unstaffed"; readonly "self_status": "opened" | "closed" | "full" | "unstaffed"; readonly "previous_status": "opened" | "closed" | "full" | "unstaffed"; readonly "previous_self_status": "opened" | "closed" | "full" | "unstaffed"; readonly "reason": "hours" | "staff" | "capacity" | "fallback"; }; };
export type QueueStatusItem = { readonly "type": "queue.status"; readonly "data": QueueStatusEvent; };
export type QueueTicket = { readonly "id": string; readonly "site_id": string; readonly "visitor_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids": readonly (string)[]; readonly "state": "waiting" | "offered" | "engaged" | "canceled" | "visitor_left" | "unstaffed" | "expired"; readonly "position": number | null; readonly "estimated_wait_sec": number | null; readonly "engagement_id": string | null; readonly "created_at": string; readonly "updated_at": string; };
export type QueueTicketStateItem = { readonly "type": "queue_ticket.state"; readonly "data": QueueTicket; };
export type Ranking = { readonly "id": string; readonly "rank": number; };
export type RecordVisitorEventRequest = { readonly "message": string; };
export type RecoverWebhookRequest = { readonly "since": string; readonly "until"?: string; };
export type RenewVisitorPresenceRequest = { readonly "expires_in_sec": number; };
export type ReplayDeliveryRequest = {  };
export type ReportTypingRequest = { readonly "typing": boolean; };
export type RotateWebhookSecretRequest = { readonly "secret"?: string; };
export type RotatedSecret = { readonly "secret": string; readonly "old_secret_until": string | null; };
export type SampleData = { readonly "state": "none" | "running" | "stopped" | "removing"; readonly "site_id": string | null; readonly "started_at": string | null; };
export type SchedulingPolicy = { readonly "id": string; readonly "site_id": string; readonly "name": string; readonly "description": string | null; readonly "timezone": string; readonly "business_hours": readonly ({ readonly "opens_at": string; readonly "closes_at": string; readonly "days_of_week": readonly (string)[]; })[]; readonly "exceptions": readonly ({ readonly "date": string; readonly "opens_at"?: string; readonly "closes_at"?: string; })[]; readonly "created_at": string; readonly "updated_at": string; };
export type SearchEngagementsRequest = { readonly "site_ids": readonly (string)[]; readonly "from_start_time"?: string | null; readonly "to_start_time"?: string | null; readonly "per_page"?: number; readonly "page_token"?: string | null; };
export type SearchEngagementsResponse = { readonly "engagements": readonly (Engagement)[]; readonly "next_page_token": string | null; };
export type SendMessageRequest = { readonly "content": string; readonly "attachment"?: { readonly "type": "single_choice" | "single_choice_response" | "files"; } | null; readonly "metadata"?: Readonly<Record<string, unknown>> | null; readonly "type"?: "chat"; readonly "target"?: "visitor" | "operator"; };
export type SendSignalRequest = { readonly "call_id": string; readonly "kind": "ready" | "description" | "candidate" | "state" | "hangup"; readonly "data": {  } | null; };
export type SendSystemMessageRequest = { readonly "sender"?: "system" | "omniguide"; readonly "content": string; readonly "type"?: "system_message" | "visitor_authentication"; readonly "attachment"?: { readonly "type": "single_choice" | "single_choice_response"; } | null; readonly "metadata"?: { readonly "type": "prompt" | "suggestion"; } | null; };
export type SentTest = { readonly "delivery_id": string; readonly "event_id": string; };
export type Session = { readonly "id": string; readonly "current": boolean; readonly "signed_in_with": "password" | "api_key" | "link" | "invitation"; readonly "user_agent": string; readonly "created_at": string; readonly "last_used_at": string; readonly "expires_at": string; };
export type SetOperatorPictureRequest = { readonly "content": string; };
export type SetOperatorPresenceRequest = { readonly "available": boolean; readonly "media"?: readonly ("text" | "phone" | "audio" | "video")[]; readonly "expires_in_sec"?: number | null; readonly "reason"?: string | null; };
export type SetPasswordRequest = { readonly "current_password"?: string; readonly "new_password": string; };
export type SetScanResultRequest = { readonly "result": "clean" | "infected"; };
export type SignedIn = { readonly "token": string; readonly "expires_in": number; readonly "operator_id": string; readonly "session_id": string; };
export type SingleChoiceAttachment = { readonly "type": "single_choice"; readonly "image_url"?: string; readonly "options": readonly ({ readonly "text": string; readonly "value": string; })[]; };
export type SingleChoiceResponseAttachment = { readonly "type": "single_choice_response"; readonly "selected_option": string; };
export type SipDomain = { readonly "id": string; readonly "site_id": string; readonly "domain": string; readonly "created_at": string; };
export type SipDomainDeleteEvent = { readonly "event_type": "sip_domain.delete"; readonly "event_id": string; readonly "dispatched_at": string; readonly "sip_domain": { readonly "id": string; }; };
export type SipDomainDeleteItem = { readonly "type": "sip_domain.delete"; readonly "data": SipDomainDeleteEvent; };
export type Site = { readonly "id": string; readonly "name": string; readonly "addresses": readonly (string)[]; readonly "time_zone": string | null; readonly "reactive_call_timeout": number; readonly "proactive_call_timeout": number; readonly "missed_call_unavailability_enabled": boolean; readonly "calls_beside_chats": boolean; readonly "queue_ticket_timeout_sec": number; readonly "visitor_webhooks": boolean; readonly "allowed_file_content_types": readonly (string)[]; readonly "allowed_file_senders": { readonly "operator": boolean; readonly "visitor": boolean; }; readonly "allowed_origins": readonly (string)[]; readonly "visitor_limits": { readonly "new_visitors_per_minute": number; readonly "open_tickets_per_address": number; readonly "open_feeds_per_address": number; }; readonly "ticket_needs_presence": boolean; readonly "attached_webhook_messages": "own" | "other" | "all"; readonly "lenient_requests": boolean; readonly "created_at": string; readonly "updated_at": string; };
export type SiteAvailability = { readonly "open": boolean; readonly "media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "staffed_media": readonly ("text" | "phone" | "audio" | "video")[]; readonly "opens_at": string | null; };
export type SubEngagement = { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; readonly "started_at": string; readonly "ended_at": string | null; };
export type SystemMessageEvent = { readonly "event_type": "engagement.chat.system_message"; readonly "event_id": string; readonly "dispatched_at": string; readonly "message": { readonly "timestamp": string; readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "content": string; readonly "status": "sent"; readonly "sender": { readonly "type": "system" | "omniguide"; }; readonly "target": "operator"; readonly "type": "system_message" | "visitor_authentication"; readonly "attachment": SingleChoiceAttachment | SingleChoiceResponseAttachment | null; readonly "metadata": { readonly "type": "prompt" | "suggestion"; } | null; }; readonly "undelivered_messages": boolean; };
export type SystemMessageItem = { readonly "type": "engagement.chat.system_message"; readonly "data": SystemMessageEvent; };
export type Team = { readonly "id": string; readonly "site_id": string; readonly "name": string; readonly "description": string | null; readonly "created_at": string; readonly "updated_at": string; };
export type TestWebhookRequest = { readonly "event_type": "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; };
export type TicketCreatedEvent = { readonly "event_type": "ticket.created"; readonly "event_id": string; readonly "dispatched_at": string; readonly "ticket": { readonly "id": string; readonly "kind": "visitor" | "transfer"; readonly "site_id": string; readonly "visitor_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids": readonly (string)[]; readonly "engagement_id": string | null; readonly "enqueued_at": string; }; };
export type TicketCreatedItem = { readonly "type": "ticket.created"; readonly "data": TicketCreatedEvent; };
export type TicketEndedEvent = { readonly "event_type": "ticket.ended"; readonly "event_id": string; readonly "dispatched_at": string; readonly "ticket": { readonly "id": string; readonly "kind": "visitor" | "transfer"; readonly "site_id": string; readonly "visitor_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids": readonly (string)[]; readonly "engagement_id": string | null; readonly "enqueued_at": string; readonly "state": "engaged" | "canceled" | "visitor_left" | "unstaffed" | "expired"; readonly "queue_id": string | null; }; };
export type TicketEndedItem = { readonly "type": "ticket.ended"; readonly "data": TicketEndedEvent; };
export type TicketOfferedEvent = { readonly "event_type": "ticket.offered"; readonly "event_id": string; readonly "dispatched_at": string; readonly "ticket": { readonly "id": string; readonly "kind": "visitor" | "transfer"; readonly "site_id": string; readonly "visitor_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids": readonly (string)[]; readonly "engagement_id": string | null; readonly "enqueued_at": string; readonly "engagement_request_id": string; readonly "queue_id": string; readonly "operator_id": string; }; };
export type TicketOfferedItem = { readonly "type": "ticket.offered"; readonly "data": TicketOfferedEvent; };
export type TranscriptMessage = { readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "timestamp": string; readonly "content": string; readonly "status": "sent" | "delivered"; readonly "target": "visitor" | "operator"; readonly "type": "chat" | "system_message" | "visitor_authentication"; readonly "attachment": Readonly<Record<string, unknown>> | null; readonly "metadata": Readonly<Record<string, unknown>> | null; readonly "created_at": string; readonly "updated_at": string; readonly "sender": { readonly "type": "visitor" | "operator" | "system" | "omniguide"; readonly "id": string | null; readonly "name": string | null; }; readonly "message": string; };
export type TransferRequest = { readonly "id": string; readonly "transfer_ticket_id": string | null; readonly "message": string | null; readonly "site_id": string; readonly "visitor_id": string; readonly "operator_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "state": "pending" | "accepted" | "failed"; readonly "fail_reason": "rejected" | "timed_out" | "visitor_left" | "visitor_cancel" | "operator_left" | "operator_cancel" | "error" | null; readonly "fail_message": string | null; readonly "timeout": number; readonly "queue_id": string | null; readonly "engagement_id": string | null; readonly "created_at": string; readonly "updated_at": string; };
export type TransferRequestStateItem = { readonly "type": "transfer_request.state"; readonly "data": TransferRequest; };
export type TransferTicket = { readonly "id": string; readonly "engagement_id": string | null; readonly "site_id": string; readonly "visitor_id": string; readonly "media": "text" | "phone" | "audio" | "video"; readonly "queue_ids": readonly (string)[]; readonly "state": "waiting" | "offered" | "engaged" | "canceled" | "visitor_left" | "unstaffed" | "expired"; readonly "position": number | null; readonly "estimated_wait_sec": number | null; readonly "created_at": string; readonly "updated_at": string; };
export type TransferTicketStateItem = { readonly "type": "transfer_ticket.state"; readonly "data": TransferTicket; };
export type UpdateCallRequest = { readonly "action": "connect" | "end"; };
export type UpdateDigitalChannelRequest = { readonly "kind"?: string; readonly "address"?: string; readonly "queue_id"?: string; readonly "site_id"?: string; };
export type UpdateEngagementRequest = { readonly "action": "end"; readonly "reason"?: "error"; };
export type UpdateEngagementRequestRequest = { readonly "action": "accept" | "decline" | "cancel"; readonly "reason"?: "error"; readonly "message"?: string | null; };
export type UpdateEngagementResponse = { readonly "id": string; readonly "sub_engagement_id": string; };
export type UpdateMediaUpgradeRequestRequest = { readonly "action": "accept" | "decline" | "cancel"; };
export type UpdateOperatorRequest = { readonly "name"?: string; readonly "email"?: string; readonly "display_name"?: string | null; readonly "role"?: "operator" | "manager" | "super_manager"; readonly "assignments"?: readonly ({ readonly "site_id": string; readonly "role"?: "operator" | "manager" | "super_manager"; readonly "team_ids"?: readonly (string)[]; })[]; readonly "max_engagement_count"?: number | null; readonly "enabled"?: boolean; readonly "available"?: boolean; };
export type UpdatePhoneChannelRequest = { readonly "number"?: string; readonly "queue_id"?: string; readonly "site_id"?: string; };
export type UpdateQueueRequest = { readonly "name": string; readonly "description"?: string | null; readonly "capacity"?: number | null; readonly "capacity_policy": { readonly "type": "fixed" | "variable"; readonly "capacity"?: number | null; readonly "multiplier"?: number | null; }; readonly "routing_policy": { readonly "media"?: readonly ("text" | "phone" | "audio" | "video")[]; readonly "team_ids"?: readonly (string)[]; }; readonly "when_unstaffed"?: "accept" | "reject" | null; readonly "operator_ranking_enabled"?: boolean | null; readonly "welcome_message"?: string | null; readonly "scheduling_policy_id"?: string | null; readonly "fallback_queue_id"?: string | null; readonly "operator_affinity"?: { readonly "time_window_sec": number; } | null; readonly "site_id"?: string; };
export type UpdateQueueTicketRequest = { readonly "action": "cancel"; };
export type UpdateRankingsRequest = { readonly "operators": readonly ({ readonly "id": string; readonly "rank": number | null; })[]; };
export type UpdateRankingsResponse = { readonly "operators": readonly (Ranking)[]; };
export type UpdateSampleDataRequest = { readonly "action": "start" | "stop"; };
export type UpdateSchedulingPolicyRequest = { readonly "name": string; readonly "description"?: string | null; readonly "timezone": string; readonly "business_hours": readonly ({ readonly "opens_at": string; readonly "closes_at": string; readonly "days_of_week": readonly (string)[]; })[]; readonly "exceptions"?: readonly ({ readonly "date": string; readonly "opens_at"?: string; readonly "closes_at"?: string; })[] | null; readonly "site_id"?: string; };
export type UpdateSiteRequest = { readonly "name"?: string; readonly "addresses"?: readonly (string)[] | null; readonly "time_zone"?: string | null; readonly "reactive_call_timeout"?: number | null; readonly "proactive_call_timeout"?: number | null; readonly "missed_call_unavailability_enabled"?: boolean | null; readonly "calls_beside_chats"?: boolean | null; readonly "queue_ticket_timeout_sec"?: number | null; readonly "visitor_webhooks"?: boolean | null; readonly "allowed_file_content_types"?: readonly (string)[] | null; readonly "allowed_file_senders"?: { readonly "operator": boolean; readonly "visitor": boolean; } | null; readonly "allowed_origins"?: readonly (string)[] | null; readonly "visitor_limits"?: { readonly "new_visitors_per_minute": number; readonly "open_tickets_per_address": number; readonly "open_feeds_per_address": number; } | null; readonly "ticket_needs_presence"?: boolean | null; readonly "attached_webhook_messages"?: "own" | "other" | "all" | null; readonly "lenient_requests"?: boolean | null; };
export type UpdateTeamRequest = { readonly "name"?: string; readonly "description"?: string | null; readonly "site_id"?: string; };
export type UpdateTransferRequestRequest = { readonly "action": "accept" | "decline" | "cancel"; readonly "reason"?: "error"; readonly "message"?: string | null; };
export type UpdateTransferTicketRequest = { readonly "action": "cancel"; };
export type UpdateVisitorRequest = { readonly "name"?: string | null; readonly "email"?: string | null; readonly "phone"?: string | null; readonly "custom_attributes"?: Readonly<Record<string, string | null>>; readonly "custom_attributes_update_method"?: "replace" | "merge"; readonly "note"?: string | null; readonly "note_update_method"?: "replace" | "append"; readonly "team_ids"?: readonly (string)[]; readonly "external_id"?: string | null; readonly "site_id"?: string; };
export type UpdateWebhookRequest = { readonly "url": string; readonly "method"?: "POST" | "PUT" | "PATCH" | "DELETE" | null; readonly "headers"?: Readonly<Record<string, string>> | null; readonly "events": readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly "site_ids"?: readonly (string)[] | null; readonly "description"?: string | null; readonly "ordering"?: "engagement" | "none" | null; readonly "enabled"?: boolean | null; readonly "filter"?: Readonly<Record<string, unknown>> | null; readonly "credentials"?: { readonly "user"?: string; readonly "password"?: string; readonly "token"?: string; } | null; };
export type UploadFileResponse = { readonly "file_id": string; readonly "security_scanning_required": boolean; };
export type Visitor = { readonly "id": string; readonly "site_id": string; readonly "name": string | null; readonly "email": string | null; readonly "phone": string | null; readonly "note": string | null; readonly "custom_attributes": Readonly<Record<string, string>>; readonly "external_id": string | null; readonly "team_ids": readonly (string)[]; readonly "presence_expires_at": string | null; readonly "created_at": string; readonly "updated_at": string; };
export type VisitorAuthentication = { readonly "Authorization": string; };
export type VisitorAuthenticationFailureEvent = { readonly "event_type": "visitor.authentication.failure"; readonly "event_id": string; readonly "dispatched_at": string; readonly "authentication_response": { readonly "fail_reason": string; readonly "authentication_request_id": string; }; };
export type VisitorAuthenticationFailureItem = { readonly "type": "visitor.authentication.failure"; readonly "data": VisitorAuthenticationFailureEvent; };
export type VisitorAuthenticationProvider = { readonly "id": string; readonly "site_id": string; readonly "name": string; readonly "type": "openid_connect"; readonly "issuer": string; readonly "client_id": string; readonly "has_client_secret": boolean; readonly "redirect_uris": readonly (string)[]; readonly "created_at": string; };
export type VisitorAuthenticationRequest = { readonly "id": string; readonly "provider_id": string; readonly "visitor_id": string; readonly "state": "pending" | "succeeded" | "failed"; readonly "fail_reason": string | null; readonly "created_at": string; readonly "updated_at": string; };
export type VisitorAuthenticationSuccessEvent = { readonly "event_type": "visitor.authentication.success"; readonly "event_id": string; readonly "dispatched_at": string; readonly "authentication_response": { readonly "authentication_request_id": string; readonly "visitor_id": string; readonly "access_token": string; readonly "name": string | null; readonly "preferred_name": string | null; readonly "email": string | null; readonly "id_token": string | null; readonly "issuer": string | null; readonly "subject": string | null; }; };
export type VisitorAuthenticationSuccessItem = { readonly "type": "visitor.authentication.success"; readonly "data": VisitorAuthenticationSuccessEvent; };
export type VisitorEvent = { readonly "timestamp": string; readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement": { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; }; readonly "sender": { readonly "type": "visitor"; readonly "id": string; }; readonly "content": string; readonly "message": string; readonly "created_at": string; };
export type VisitorEventEvent = { readonly "event_type": "engagement.event"; readonly "event_id": string; readonly "dispatched_at": string; readonly "message": { readonly "timestamp": string; readonly "id": string; readonly "engagement_id": string; readonly "sub_engagement": { readonly "id": string; readonly "operator_id": string; readonly "site_id": string; }; readonly "sender": { readonly "type": "visitor"; readonly "id": string; }; readonly "content": string; }; };
export type VisitorEventItem = { readonly "type": "engagement.event"; readonly "data": VisitorEventEvent; };
export type VisitorToken = { readonly "id": string; readonly "access_token": string; readonly "expires_in": number; };
export type VisitorTypingEvent = { readonly "event_type": "engagement.chat.typing_indicator.visitor"; readonly "event_id": string; readonly "dispatched_at": string; readonly "typing_indicator": { readonly "engagement_id": string; readonly "sub_engagement_id": string; readonly "sender": { readonly "id": string; }; readonly "typing": boolean; readonly "clock": number; }; };
export type VisitorTypingItem = { readonly "type": "engagement.chat.typing_indicator.visitor"; readonly "data": VisitorTypingEvent; };
export type Webhook = { readonly "id": string; readonly "url": string; readonly "method": "POST" | "PUT" | "PATCH" | "DELETE" | null; readonly "headers": Readonly<Record<string, string>> | null; readonly "has_credentials"?: boolean; readonly "events": readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly "site_ids": readonly (string)[] | null; readonly "description": string | null; readonly "ordering": "engagement" | "none"; readonly "enabled": boolean; readonly "disabled_because": "asked" | "gone" | "failing" | "token_ended" | null; readonly "disabled_at": string | null; readonly "failing_since": string | null; readonly "created_at": string; readonly "updated_at": string; readonly "registered_by": string | null; readonly "covered_site_ids": readonly (string)[]; readonly "filter": Readonly<Record<string, unknown>> | null; };
export type WebhookDisabledEvent = { readonly "event_type": "webhook.disabled"; readonly "event_id": string; readonly "dispatched_at": string; readonly "webhook": { readonly "id": string; readonly "origin": string; readonly "description": string | null; readonly "site_ids": readonly (string)[]; readonly "registered_by": string | null; readonly "disabled_because": "asked" | "gone" | "failing" | "token_ended"; readonly "failing_since": string | null; }; };
export type WebhookDisabledItem = { readonly "type": "webhook.disabled"; readonly "data": WebhookDisabledEvent; };
export type WebhookEvent = EngagementRequestFailureEvent | EngagementRequestDeliverEvent | EngagementStartEvent | EngagementEndEvent | EngagementTransferEvent | ChatMessageEvent | ChatMessageDottedStatusEvent | ChatMessageStatusEvent | SystemMessageEvent | OperatorTypingEvent | VisitorTypingEvent | MediaUpgradeRequestEvent | VisitorEventEvent | VisitorAuthenticationSuccessEvent | VisitorAuthenticationFailureEvent | SipDomainDeleteEvent | FileScanResultEvent | WebhookFailingEvent | WebhookDisabledEvent | WebhookRecoveredEvent | TicketCreatedEvent | TicketOfferedEvent | TicketEndedEvent | OperatorPresenceEvent | QueueStatusEvent;
export type WebhookFailingEvent = { readonly "event_type": "webhook.failing"; readonly "event_id": string; readonly "dispatched_at": string; readonly "webhook": { readonly "id": string; readonly "origin": string; readonly "description": string | null; readonly "site_ids": readonly (string)[]; readonly "registered_by": string | null; readonly "failing_since": string; }; };
export type WebhookFailingItem = { readonly "type": "webhook.failing"; readonly "data": WebhookFailingEvent; };
export type WebhookLastAttempt = { readonly "at": string; readonly "state": "delivered" | "retrying" | "exhausted" | "held" | "discarded"; readonly "status": number | null; readonly "error": string | null; } | null;
export type WebhookRecoveredEvent = { readonly "event_type": "webhook.recovered"; readonly "event_id": string; readonly "dispatched_at": string; readonly "webhook": { readonly "id": string; readonly "origin": string; readonly "description": string | null; readonly "site_ids": readonly (string)[]; readonly "registered_by": string | null; }; };
export type WebhookRecoveredItem = { readonly "type": "webhook.recovered"; readonly "data": WebhookRecoveredEvent; };
export type WebhookRecovery = { readonly "id": string; readonly "webhook_id": string; readonly "state": "running" | "finished" | "stopped"; readonly "since": string; readonly "until": string | null; readonly "recovered": number; readonly "created_at": string; readonly "updated_at": string; readonly "finished_at": string | null; };
export type WebhookStats = { readonly "webhook_id": string; readonly "from": string; readonly "to": string; readonly "interval": number; readonly "complete": boolean; readonly "steps": readonly (WebhookStatsStep)[]; readonly "last_attempt": WebhookLastAttempt; readonly "waiting": WebhookWaiting; };
export type WebhookStatsStep = { readonly "at": string; readonly "delivered": number; readonly "failed": number; readonly "given_up": number; readonly "median_ms": number | null; readonly "p95_ms": number | null; };
export type WebhookWaiting = { readonly "pending": number; readonly "retrying": number; readonly "held": number; };
export interface Operations {
  "POST /operator_authentication/tokens": {
    path: {  };
    query: {  };
    body: CreateTokenRequest;
    answer: CreateTokenResponse;
  };
  "POST /sites/tokens": {
    path: {  };
    query: {  };
    body: CreateSiteTokenRequest;
    answer: CreateSiteTokenResponse;
  };
  "POST /operator_authentication/sessions": {
    path: {  };
    query: {  };
    body: CreateSessionRequest;
    answer: SignedIn;
  };
  "GET /operator_authentication/sessions": {
    path: {  };
    query: {  };
    body: undefined;
    answer: ListSessionsResponse;
  };
  "DELETE /operator_authentication/sessions": {
    path: {  };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /operator_authentication/sessions/current/token": {
    path: {  };
    query: {  };
    body: ExchangeSessionCookieRequest;
    answer: SignedIn;
  };
  "GET /operator_authentication/sessions/current": {
    path: {  };
    query: {  };
    body: undefined;
    answer: GetCurrentSessionResponse;
  };
  "DELETE /operator_authentication/sessions/current": {
    path: {  };
    query: {  };
    body: undefined;
    answer: null;
  };
  "DELETE /operator_authentication/sessions/{session_id}": {
    path: { readonly "session_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /operators/{operator_id}/invitations": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: CreateInvitationRequest;
    answer: NewInvitation;
  };
  "GET /operators/{operator_id}/invitations": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: undefined;
    answer: ListInvitationsResponse;
  };
  "DELETE /operators/{operator_id}/invitations/{invitation_id}": {
    path: { readonly "operator_id": string; readonly "invitation_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /operator_authentication/invitations/preview": {
    path: {  };
    query: {  };
    body: PreviewInvitationRequest;
    answer: InvitationPreview;
  };
  "POST /operator_authentication/invitations/accept": {
    path: {  };
    query: {  };
    body: AcceptInvitationRequest;
    answer: SignedIn;
  };
  "PUT /operator_authentication/password": {
    path: {  };
    query: {  };
    body: SetPasswordRequest;
    answer: null;
  };
  "POST /operators/{operator_id}/api_keys": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: CreateApiKeyRequest;
    answer: NewApiKey;
  };
  "GET /operators/{operator_id}/api_keys": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: undefined;
    answer: ListApiKeysResponse;
  };
  "DELETE /operators/{operator_id}/api_keys/{key_id}": {
    path: { readonly "operator_id": string; readonly "key_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /operators/{operator_id}/access_tokens": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: CreateAccessTokenRequest;
    answer: NewAccessToken;
  };
  "GET /operators/{operator_id}/access_tokens": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: undefined;
    answer: ListAccessTokensResponse;
  };
  "DELETE /operators/{operator_id}/access_tokens/{access_token_id}": {
    path: { readonly "operator_id": string; readonly "access_token_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /sites/{site_id}/application_tokens": {
    path: { readonly "site_id": string; };
    query: {  };
    body: CreateApplicationTokenRequest;
    answer: NewApplicationToken;
  };
  "GET /sites/{site_id}/application_tokens": {
    path: { readonly "site_id": string; };
    query: {  };
    body: undefined;
    answer: ListApplicationTokensResponse;
  };
  "DELETE /sites/{site_id}/application_tokens/{token_id}": {
    path: { readonly "site_id": string; readonly "token_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /sites": {
    path: {  };
    query: { readonly "hostname"?: string; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListSitesResponse;
  };
  "POST /sites": {
    path: {  };
    query: {  };
    body: CreateSiteRequest;
    answer: Site;
  };
  "GET /sites/{site_id}": {
    path: { readonly "site_id": string; };
    query: {  };
    body: undefined;
    answer: Site;
  };
  "PATCH /sites/{site_id}": {
    path: { readonly "site_id": string; };
    query: {  };
    body: UpdateSiteRequest;
    answer: Site;
  };
  "DELETE /sites/{site_id}": {
    path: { readonly "site_id": string; };
    query: { readonly "confirm"?: string; };
    body: undefined;
    answer: null;
  };
  "GET /teams": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListTeamsResponse;
  };
  "POST /teams": {
    path: {  };
    query: {  };
    body: CreateTeamRequest;
    answer: Team;
  };
  "GET /teams/{team_id}": {
    path: { readonly "team_id": string; };
    query: {  };
    body: undefined;
    answer: Team;
  };
  "PATCH /teams/{team_id}": {
    path: { readonly "team_id": string; };
    query: {  };
    body: UpdateTeamRequest;
    answer: Team;
  };
  "DELETE /teams/{team_id}": {
    path: { readonly "team_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /operators": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "site_id"?: string; readonly "team_ids"?: readonly (string)[]; readonly "contains"?: string; readonly "include_offline"?: boolean; readonly "include_disabled"?: boolean; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListOperatorsResponse;
  };
  "POST /operators": {
    path: {  };
    query: {  };
    body: CreateOperatorRequest;
    answer: Operator;
  };
  "GET /operators/{operator_id}": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: undefined;
    answer: Operator;
  };
  "PATCH /operators/{operator_id}": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: UpdateOperatorRequest;
    answer: Operator;
  };
  "DELETE /operators/{operator_id}": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /operator_pictures/{picture_id}": {
    path: { readonly "picture_id": string; };
    query: {  };
    body: undefined;
    answer: string;
  };
  "PUT /operators/{operator_id}/picture": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: SetOperatorPictureRequest;
    answer: OperatorPicture;
  };
  "DELETE /operators/{operator_id}/picture": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: undefined;
    answer: OperatorPicture;
  };
  "GET /colleagues": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "include_offline"?: boolean; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListColleaguesResponse;
  };
  "GET /audit_log": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "actor_id"?: string; readonly "action"?: string; readonly "target_type"?: string; readonly "target_id"?: string; readonly "from"?: string; readonly "to"?: string; readonly "since"?: string; readonly "until"?: string; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListAuditEntriesResponse;
  };
  "POST /visitors": {
    path: {  };
    query: {  };
    body: CreateVisitorRequest;
    answer: VisitorToken;
  };
  "GET /visitors": {
    path: {  };
    query: { readonly "ids": readonly (string)[]; };
    body: undefined;
    answer: ListVisitorsResponse;
  };
  "POST /visitors/{visitor_id}/token": {
    path: { readonly "visitor_id": string; };
    query: {  };
    body: undefined;
    answer: VisitorToken;
  };
  "GET /sites/{site_id}/visitors/{visitor_id}": {
    path: { readonly "site_id": string; readonly "visitor_id": string; };
    query: {  };
    body: undefined;
    answer: Visitor;
  };
  "PATCH /sites/{site_id}/visitors/{visitor_id}": {
    path: { readonly "site_id": string; readonly "visitor_id": string; };
    query: {  };
    body: UpdateVisitorRequest;
    answer: Visitor;
  };
  "GET /visitor": {
    path: {  };
    query: {  };
    body: undefined;
    answer: Visitor;
  };
  "PATCH /visitors/{visitor_id}": {
    path: { readonly "visitor_id": string; };
    query: {  };
    body: MoveVisitorRequest;
    answer: Visitor;
  };
  "GET /queues/scheduling_policies": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListSchedulingPoliciesResponse;
  };
  "POST /queues/scheduling_policies": {
    path: {  };
    query: { readonly "site_id"?: string; };
    body: CreateSchedulingPolicyRequest;
    answer: SchedulingPolicy;
  };
  "GET /queues/scheduling_policies/{scheduling_policy_id}": {
    path: { readonly "scheduling_policy_id": string; };
    query: {  };
    body: undefined;
    answer: SchedulingPolicy;
  };
  "PUT /queues/scheduling_policies/{scheduling_policy_id}": {
    path: { readonly "scheduling_policy_id": string; };
    query: {  };
    body: UpdateSchedulingPolicyRequest;
    answer: SchedulingPolicy;
  };
  "DELETE /queues/scheduling_policies/{scheduling_policy_id}": {
    path: { readonly "scheduling_policy_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /queues/scheduling_policies/{scheduling_policy_id}/preview": {
    path: { readonly "scheduling_policy_id": string; };
    query: { readonly "from": string; readonly "to": string; };
    body: undefined;
    answer: ListOpenIntervalsResponse;
  };
  "POST /queues/scheduling_policies/preview": {
    path: {  };
    query: {  };
    body: PreviewSchedulingPolicyRequest;
    answer: HoursOutlook;
  };
  "GET /queues": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListQueuesResponse;
  };
  "POST /queues": {
    path: {  };
    query: {  };
    body: CreateQueueRequest;
    answer: Queue;
  };
  "POST /queues/preview": {
    path: {  };
    query: {  };
    body: PreviewQueueRequest;
    answer: QueuePreview;
  };
  "GET /queues/{queue_id}": {
    path: { readonly "queue_id": string; };
    query: {  };
    body: undefined;
    answer: Queue;
  };
  "PUT /queues/{queue_id}": {
    path: { readonly "queue_id": string; };
    query: {  };
    body: UpdateQueueRequest;
    answer: Queue;
  };
  "DELETE /queues/{queue_id}": {
    path: { readonly "queue_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /sites/{site_id}/availability": {
    path: { readonly "site_id": string; };
    query: { readonly "queue_ids"?: readonly (string)[]; };
    body: undefined;
    answer: SiteAvailability;
  };
  "GET /queues/{queue_id}/rankings": {
    path: { readonly "queue_id": string; };
    query: {  };
    body: undefined;
    answer: ListRankingsResponse;
  };
  "PATCH /queues/{queue_id}/rankings": {
    path: { readonly "queue_id": string; };
    query: {  };
    body: UpdateRankingsRequest;
    answer: UpdateRankingsResponse;
  };
  "GET /phone_channels": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListPhoneChannelsResponse;
  };
  "POST /phone_channels": {
    path: {  };
    query: {  };
    body: CreatePhoneChannelRequest;
    answer: PhoneChannel;
  };
  "GET /phone_channels/{channel_id}": {
    path: { readonly "channel_id": string; };
    query: {  };
    body: undefined;
    answer: PhoneChannel;
  };
  "PATCH /phone_channels/{channel_id}": {
    path: { readonly "channel_id": string; };
    query: {  };
    body: UpdatePhoneChannelRequest;
    answer: PhoneChannel;
  };
  "DELETE /phone_channels/{channel_id}": {
    path: { readonly "channel_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /digital_channels": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListDigitalChannelsResponse;
  };
  "POST /digital_channels": {
    path: {  };
    query: {  };
    body: CreateDigitalChannelRequest;
    answer: DigitalChannel;
  };
  "GET /digital_channels/{channel_id}": {
    path: { readonly "channel_id": string; };
    query: {  };
    body: undefined;
    answer: DigitalChannel;
  };
  "PATCH /digital_channels/{channel_id}": {
    path: { readonly "channel_id": string; };
    query: {  };
    body: UpdateDigitalChannelRequest;
    answer: DigitalChannel;
  };
  "DELETE /digital_channels/{channel_id}": {
    path: { readonly "channel_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /queue_tickets": {
    path: {  };
    query: {  };
    body: CreateQueueTicketRequest;
    answer: NewQueueTicket;
  };
  "GET /queue_tickets": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListQueueTicketsResponse;
  };
  "GET /queue_tickets/{ticket_id}": {
    path: { readonly "ticket_id": string; };
    query: {  };
    body: undefined;
    answer: QueueTicket;
  };
  "PATCH /queue_tickets/{ticket_id}": {
    path: { readonly "ticket_id": string; };
    query: {  };
    body: UpdateQueueTicketRequest;
    answer: QueueTicket;
  };
  "GET /queues/{queue_id}/tickets": {
    path: { readonly "queue_id": string; };
    query: { readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListTicketsOfQueueResponse;
  };
  "PUT /operators/{operator_id}/presence": {
    path: { readonly "operator_id": string; };
    query: {  };
    body: SetOperatorPresenceRequest;
    answer: Operator;
  };
  "PUT /visitors/{visitor_id}/presence": {
    path: { readonly "visitor_id": string; };
    query: {  };
    body: RenewVisitorPresenceRequest;
    answer: Visitor;
  };
  "GET /operators/presence_intervals": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "operator_ids"?: readonly (string)[]; readonly "from": string; readonly "to": string; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListPresenceIntervalsResponse;
  };
  "GET /queues/stats": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "queue_ids"?: readonly (string)[]; readonly "from": string; readonly "to": string; readonly "service_level_sec"?: number; readonly "interval_sec"?: number; };
    body: undefined;
    answer: ListQueueStatsResponse;
  };
  "GET /queues/{queue_id}/stats": {
    path: { readonly "queue_id": string; };
    query: { readonly "from": string; readonly "to": string; readonly "service_level_sec"?: number; };
    body: undefined;
    answer: QueueStats;
  };
  "GET /engagements/queue/wait_duration": {
    path: {  };
    query: {  };
    body: undefined;
    answer: GetRecentWaitResponse;
  };
  "GET /engagements/stats/duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date": string; readonly "end_date": string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
    body: undefined;
    answer: GetEngagementDurationResponse;
  };
  "POST /engagements/stats/duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
    body: QueryEngagementDurationRequest;
    answer: QueryEngagementDurationResponse;
  };
  "GET /engagements/stats/post_engagement_duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date": string; readonly "end_date": string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
    body: undefined;
    answer: GetWrapUpDurationResponse;
  };
  "POST /engagements/stats/post_engagement_duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
    body: QueryWrapUpDurationRequest;
    answer: QueryWrapUpDurationResponse;
  };
  "GET /engagements/stats/queue/wait_duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date": string; readonly "end_date": string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; readonly "service_level_sec"?: number; readonly "short_duration_sec"?: number; };
    body: undefined;
    answer: GetWaitDurationResponse;
  };
  "POST /engagements/stats/queue/wait_duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; readonly "service_level_sec"?: number; readonly "short_duration_sec"?: number; };
    body: QueryWaitDurationRequest;
    answer: QueryWaitDurationResponse;
  };
  "GET /operators/stats/online_duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date": string; readonly "end_date": string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
    body: undefined;
    answer: GetOnlineDurationResponse;
  };
  "POST /operators/stats/online_duration": {
    path: {  };
    query: { readonly "query_type"?: "group_by"; readonly "dimensions"?: readonly ("site_id" | "queue_id" | "operator_id" | "team_id" | "type" | "end_reason" | "media" | "highest_operator_media" | "outcome" | "destination_queue_id" | "user_type")[]; readonly "granularity"?: "all" | "fifteen_minute" | "thirty_minute" | "hour" | "day"; readonly "start_date"?: string; readonly "end_date"?: string; readonly "filter"?: Readonly<Record<string, unknown>>; readonly "time_zone"?: string; };
    body: QueryOnlineDurationRequest;
    answer: QueryOnlineDurationResponse;
  };
  "POST /reporting/live/queue/average_wait_time": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "queue_ids"?: readonly (string)[]; };
    body: QueryAverageWaitTimeRequest;
    answer: QueryAverageWaitTimeResponse;
  };
  "POST /engagement_requests": {
    path: {  };
    query: {  };
    body: CreateEngagementRequestRequest;
    answer: NewEngagementRequest;
  };
  "GET /engagement_requests": {
    path: {  };
    query: { readonly "state"?: "pending" | "accepted" | "failed"; readonly "site_ids"?: readonly (string)[]; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListEngagementRequestsResponse;
  };
  "GET /engagement_requests/{request_id}": {
    path: { readonly "request_id": string; };
    query: {  };
    body: undefined;
    answer: EngagementRequest;
  };
  "PATCH /engagement_requests/{request_id}": {
    path: { readonly "request_id": string; };
    query: {  };
    body: UpdateEngagementRequestRequest;
    answer: EngagementRequest;
  };
  "GET /engagements": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "operator_ids"?: readonly (string)[]; readonly "visitor_ids"?: readonly (string)[]; readonly "start_date"?: string; readonly "end_date"?: string; readonly "state"?: "active" | "ended"; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListEngagementsResponse;
  };
  "POST /engagements/search": {
    path: {  };
    query: {  };
    body: SearchEngagementsRequest;
    answer: SearchEngagementsResponse;
  };
  "GET /engagements/{engagement_id}": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: undefined;
    answer: Engagement;
  };
  "PATCH /engagements/{engagement_id}": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: UpdateEngagementRequest;
    answer: UpdateEngagementResponse;
  };
  "GET /engagements/{engagement_id}/transfers": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: undefined;
    answer: ListTransfersResponse;
  };
  "POST /transfer_requests": {
    path: {  };
    query: {  };
    body: CreateTransferRequestRequest;
    answer: TransferRequest;
  };
  "GET /transfer_requests": {
    path: {  };
    query: { readonly "state"?: "pending" | "accepted" | "failed"; readonly "site_ids"?: readonly (string)[]; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListTransferRequestsResponse;
  };
  "GET /transfer_requests/{request_id}": {
    path: { readonly "request_id": string; };
    query: {  };
    body: undefined;
    answer: TransferRequest;
  };
  "PATCH /transfer_requests/{request_id}": {
    path: { readonly "request_id": string; };
    query: {  };
    body: UpdateTransferRequestRequest;
    answer: TransferRequest;
  };
  "POST /transfer_tickets": {
    path: {  };
    query: {  };
    body: CreateTransferTicketRequest;
    answer: TransferTicket;
  };
  "GET /transfer_tickets": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListTransferTicketsResponse;
  };
  "GET /transfer_tickets/{ticket_id}": {
    path: { readonly "ticket_id": string; };
    query: {  };
    body: undefined;
    answer: TransferTicket;
  };
  "PATCH /transfer_tickets/{ticket_id}": {
    path: { readonly "ticket_id": string; };
    query: {  };
    body: UpdateTransferTicketRequest;
    answer: TransferTicket;
  };
  "PUT /engagements/{engagement_id}/chat_messages/{message_id}": {
    path: { readonly "engagement_id": string; readonly "message_id": string; };
    query: {  };
    body: SendMessageRequest;
    answer: ChatMessage;
  };
  "PATCH /engagements/{engagement_id}/chat_messages/{message_id}": {
    path: { readonly "engagement_id": string; readonly "message_id": string; };
    query: {  };
    body: AcknowledgeMessageRequest;
    answer: ChatMessage;
  };
  "GET /engagements/{engagement_id}/chat_transcript": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: undefined;
    answer: GetTranscriptResponse;
  };
  "POST /engagements/{engagement_id}/system_messages": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: SendSystemMessageRequest;
    answer: ChatMessage;
  };
  "PUT /engagements/{engagement_id}/typing_indicator": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: ReportTypingRequest;
    answer: null;
  };
  "POST /engagements/{engagement_id}/media_upgrade_requests": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: CreateMediaUpgradeRequestRequest;
    answer: MediaUpgradeRequest;
  };
  "GET /engagements/{engagement_id}/media_upgrade_requests": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: undefined;
    answer: ListMediaUpgradeRequestsResponse;
  };
  "PATCH /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}": {
    path: { readonly "engagement_id": string; readonly "upgrade_id": string; };
    query: {  };
    body: UpdateMediaUpgradeRequestRequest;
    answer: MediaUpgradeRequest;
  };
  "GET /engagements/{engagement_id}/media_upgrade_requests/{upgrade_id}": {
    path: { readonly "engagement_id": string; readonly "upgrade_id": string; };
    query: {  };
    body: undefined;
    answer: MediaUpgradeRequest;
  };
  "PATCH /engagements/{engagement_id}/calls/{call_id}": {
    path: { readonly "engagement_id": string; readonly "call_id": string; };
    query: {  };
    body: UpdateCallRequest;
    answer: EngagementCall;
  };
  "POST /engagements/{engagement_id}/signals": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: SendSignalRequest;
    answer: null;
  };
  "GET /ice_servers": {
    path: {  };
    query: {  };
    body: undefined;
    answer: IceServers;
  };
  "POST /engagements/{engagement_id}/events": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: RecordVisitorEventRequest;
    answer: VisitorEvent;
  };
  "GET /feed": {
    path: {  };
    query: { readonly "hold_presence"?: boolean; readonly "last_event_id"?: string; };
    body: undefined;
    answer: FeedItem;
  };
  "GET /engagements/{engagement_id}/files": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: undefined;
    answer: ListFilesResponse;
  };
  "POST /engagements/{engagement_id}/files": {
    path: { readonly "engagement_id": string; };
    query: {  };
    body: { readonly "content": string; };
    answer: UploadFileResponse;
  };
  "GET /engagements/{engagement_id}/files/{file_id}": {
    path: { readonly "engagement_id": string; readonly "file_id": string; };
    query: {  };
    body: undefined;
    answer: string;
  };
  "DELETE /engagements/{engagement_id}/files/{file_id}": {
    path: { readonly "engagement_id": string; readonly "file_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /files": {
    path: {  };
    query: { readonly "site_ids": readonly (string)[]; readonly "state": "pending"; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListFilesAwaitingScanResponse;
  };
  "PUT /files/{file_id}/security_scan": {
    path: { readonly "file_id": string; };
    query: {  };
    body: SetScanResultRequest;
    answer: File;
  };
  "POST /sites/{site_id}/visitor_authentication_providers": {
    path: { readonly "site_id": string; };
    query: {  };
    body: CreateIdentityProviderRequest;
    answer: VisitorAuthenticationProvider;
  };
  "GET /sites/{site_id}/visitor_authentication_providers": {
    path: { readonly "site_id": string; };
    query: {  };
    body: undefined;
    answer: ListIdentityProvidersResponse;
  };
  "GET /sites/{site_id}/visitor_authentication_providers/{provider_id}": {
    path: { readonly "site_id": string; readonly "provider_id": string; };
    query: {  };
    body: undefined;
    answer: VisitorAuthenticationProvider;
  };
  "DELETE /sites/{site_id}/visitor_authentication_providers/{provider_id}": {
    path: { readonly "site_id": string; readonly "provider_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /visitor_authentication/requests": {
    path: {  };
    query: {  };
    body: CreateVisitorAuthenticationRequest;
    answer: CreateVisitorAuthenticationResponse;
  };
  "GET /visitor_authentication/requests/{authentication_request_id}": {
    path: { readonly "authentication_request_id": string; };
    query: {  };
    body: undefined;
    answer: VisitorAuthenticationRequest;
  };
  "GET /sip_domains": {
    path: {  };
    query: { readonly "site_ids"?: readonly (string)[]; readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListSipDomainsResponse;
  };
  "POST /sip_domains": {
    path: {  };
    query: {  };
    body: CreateSipDomainRequest;
    answer: SipDomain;
  };
  "GET /sip_domains/{sip_domain_id}": {
    path: { readonly "sip_domain_id": string; };
    query: {  };
    body: undefined;
    answer: SipDomain;
  };
  "DELETE /sip_domains/{sip_domain_id}": {
    path: { readonly "sip_domain_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "GET /events": {
    path: {  };
    query: { readonly "event_type"?: readonly ("engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status")[]; readonly "from"?: string; readonly "to"?: string; readonly "since"?: string; readonly "until"?: string; readonly "engagement_id"?: string; readonly "visitor_id"?: string; readonly "site_ids"?: readonly (string)[]; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListEventsResponse;
  };
  "POST /outbound_sms": {
    path: {  };
    query: {  };
    body: CreateOutboundSmsRequest;
    answer: EngagementRequest;
  };
  "GET /webhooks": {
    path: {  };
    query: { readonly "page"?: number; readonly "per_page"?: number; };
    body: undefined;
    answer: ListWebhooksResponse;
  };
  "POST /webhooks": {
    path: {  };
    query: {  };
    body: CreateWebhookRequest;
    answer: NewWebhook;
  };
  "GET /webhooks/{webhook_id}": {
    path: { readonly "webhook_id": string; };
    query: {  };
    body: undefined;
    answer: Webhook;
  };
  "PUT /webhooks/{webhook_id}": {
    path: { readonly "webhook_id": string; };
    query: {  };
    body: UpdateWebhookRequest;
    answer: Webhook;
  };
  "DELETE /webhooks/{webhook_id}": {
    path: { readonly "webhook_id": string; };
    query: {  };
    body: undefined;
    answer: null;
  };
  "POST /webhooks/{webhook_id}/rotate_secret": {
    path: { readonly "webhook_id": string; };
    query: {  };
    body: RotateWebhookSecretRequest;
    answer: RotatedSecret;
  };
  "POST /webhooks/{webhook_id}/test": {
    path: { readonly "webhook_id": string; };
    query: {  };
    body: TestWebhookRequest;
    answer: SentTest;
  };
  "GET /event_types": {
    path: {  };
    query: {  };
    body: undefined;
    answer: ListEventTypesResponse;
  };
  "GET /webhooks/{webhook_id}/stats": {
    path: { readonly "webhook_id": string; };
    query: { readonly "from": string; readonly "to": string; readonly "interval"?: number; };
    body: undefined;
    answer: WebhookStats;
  };
  "GET /webhooks/{webhook_id}/deliveries": {
    path: { readonly "webhook_id": string; };
    query: { readonly "state"?: "pending" | "retrying" | "held" | "delivered" | "exhausted" | "discarded"; readonly "event_type"?: "engagement.request.failure" | "engagement.request.deliver" | "engagement.start" | "engagement.end" | "engagement.transfer" | "engagement.chat.message" | "engagement.chat.message.status" | "engagement.chat.message_status" | "engagement.chat.system_message" | "engagement.chat.typing_indicator.operator" | "engagement.chat.typing_indicator.visitor" | "engagement.media_upgrade_request" | "engagement.event" | "visitor.authentication.success" | "visitor.authentication.failure" | "sip_domain.delete" | "engagement.files.security_scan_result" | "webhook.failing" | "webhook.disabled" | "webhook.recovered" | "ticket.created" | "ticket.offered" | "ticket.ended" | "operator.presence" | "queue.status"; readonly "from"?: string; readonly "to"?: string; readonly "since"?: string; readonly "until"?: string; readonly "matching_id"?: string; readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListDeliveriesResponse;
  };
  "GET /deliveries/{delivery_id}": {
    path: { readonly "delivery_id": string; };
    query: {  };
    body: undefined;
    answer: DeliveryDetails;
  };
  "POST /deliveries/{delivery_id}/replay": {
    path: { readonly "delivery_id": string; };
    query: {  };
    body: ReplayDeliveryRequest;
    answer: Delivery;
  };
  "POST /webhooks/{webhook_id}/recover": {
    path: { readonly "webhook_id": string; };
    query: {  };
    body: RecoverWebhookRequest;
    answer: WebhookRecovery;
  };
  "GET /webhooks/{webhook_id}/recoveries": {
    path: { readonly "webhook_id": string; };
    query: { readonly "cursor"?: string; readonly "per_page"?: number; };
    body: undefined;
    answer: ListRecoveriesResponse;
  };
  "GET /webhooks/{webhook_id}/recoveries/{recovery_id}": {
    path: { readonly "webhook_id": string; readonly "recovery_id": string; };
    query: {  };
    body: undefined;
    answer: WebhookRecovery;
  };
  "GET /sample_data": {
    path: {  };
    query: {  };
    body: undefined;
    answer: SampleData;
  };
  "POST /sample_data": {
    path: {  };
    query: {  };
    body: undefined;
    answer: SampleData;
  };
  "PATCH /sample_data": {
    path: {  };
    query: {  };
    body: UpdateSampleDataRequest;
    answer: SampleData;
  };
  "DELETE /sample_data": {
    path: {  };
    query: {  };
    body: undefined;
    answer: SampleData;
  };
  "GET /healthz": {
    path: {  };
    query: {  };
    body: undefined;
    answer: GetHealthResponse;
  };
  "GET /version": {
    path: {  };
    query: {  };
    body: undefined;
    answer: GetVersionResponse;
  };
  "GET /readyz": {
    path: {  };
    query: {  };
    body: undefined;
    answer: GetReadinessResponse;
  };
}
