import {
  Checkbox,
  Fieldset,
  Group,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import { maxNameLength, maxOfferTimeoutSec, maxPerAddress, maxTicketTimeoutSec } from '@usher/contract/limits';
import { messageAudiences } from '@usher/contract/states';
import type { ReactElement } from 'react';
import type { Faults } from '../../components/faults.ts';
import { describeDuration, originOf, type SiteDraft } from './draft.ts';
import { texts } from './texts.ts';
import { TimeZone } from './time-zone.tsx';
import { audienceNames } from './views.ts';

interface Props {
  readonly draft: SiteDraft;
  readonly set: (part: Partial<SiteDraft>) => void;
  readonly faults: Faults;
  readonly readOnly: boolean;
}

/** All settings of a site. */
export function SiteForm(props: Props): ReactElement {
  const { draft, set, faults, readOnly } = props;
  return (
    <Stack gap="lg" maw={760}>
      <Stack gap="sm">
        <TextInput
          label={texts.name}
          required
          maxLength={maxNameLength}
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={faults('/name')}
          readOnly={readOnly}
        />
        <TagsInput
          label={texts.siteUrls}
          description={texts.siteUrlsHelp}
          value={[...draft.addresses]}
          onChange={(addresses) => set({ addresses })}
          error={faults('/addresses')}
          readOnly={readOnly}
          splitChars={[]}
        />
        <TimeZone
          value={draft.time_zone}
          onChange={(time_zone) => set({ time_zone })}
          error={faults('/time_zone')}
          readOnly={readOnly}
        />
        <TagsInput
          label={texts.allowedOrigins}
          description={texts.allowedOriginsHelp}
          placeholder={draft.allowed_origins.length === 0 ? texts.noneServerOnly : ''}
          value={[...draft.allowed_origins]}
          onChange={(origins) => set({ allowed_origins: [...new Set(origins.map(originOf))] })}
          error={faults('/allowed_origins')}
          readOnly={readOnly}
        />
      </Stack>
      <TimeFields {...props} />
      <LimitFields {...props} />
      <FileFields {...props} />
      <ClientFields {...props} />
    </Stack>
  );
}

const times = [
  {
    field: 'reactive_call_timeout',
    label: texts.offerTimeout,
    description: texts.offerTimeoutHelp,
    max: maxOfferTimeoutSec,
  },
  {
    field: 'proactive_call_timeout',
    label: texts.visitorRequestTimeout,
    description: texts.visitorRequestTimeoutHelp,
    max: maxOfferTimeoutSec,
  },
  {
    field: 'queue_ticket_timeout_sec',
    label: texts.maxWait,
    description: texts.maxWaitHelp,
    max: maxTicketTimeoutSec,
  },
] as const;

function TimeFields({ draft, set, faults, readOnly }: Props): ReactElement {
  return (
    <Fieldset legend={texts.waiting}>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {times.map(({ field, label, description, max }) => (
          <NumberInput
            key={field}
            label={label}
            description={texts.describedDuration(description, describeDuration(draft[field]))}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            suffix={texts.secondsSuffix}
            min={1}
            max={max}
            clampBehavior="blur"
            allowDecimal={false}
            value={draft[field]}
            onChange={(value) => set({ [field]: Number(value) })}
            error={faults(`/${field}`)}
            readOnly={readOnly}
          />
        ))}
      </SimpleGrid>
      <Switch
        mt="md"
        label={texts.setOperatorsAwayAfterMissedOffer}
        checked={draft.missed_call_unavailability_enabled}
        onChange={(event) => set({ missed_call_unavailability_enabled: event.currentTarget.checked })}
        disabled={readOnly}
      />
      <Switch
        mt="md"
        label={texts.allowCallsBesideChats}
        description={texts.allowCallsBesideChatsHelp}
        checked={draft.calls_beside_chats}
        onChange={(event) => set({ calls_beside_chats: event.currentTarget.checked })}
        disabled={readOnly}
      />
      <Switch
        mt="md"
        label={texts.visitorsCanAttachWebhooks}
        description={texts.visitorsCanAttachWebhooksHelp}
        checked={draft.visitor_webhooks}
        onChange={(event) => set({ visitor_webhooks: event.currentTarget.checked })}
        disabled={readOnly}
      />
    </Fieldset>
  );
}

const limits = [
  {
    field: 'new_visitors_per_minute',
    label: texts.newVisitorsPerMinute,
    description: texts.newVisitorsPerMinuteHelp,
  },
  {
    field: 'open_tickets_per_address',
    label: texts.concurrentWaitingVisitors,
    description: texts.concurrentWaitingVisitorsHelp,
  },
  {
    field: 'open_feeds_per_address',
    label: texts.liveConnections,
    description: texts.liveConnectionsHelp,
  },
] as const;

/** Limits per IP address, so that one client cannot fill a queue. */
function LimitFields({ draft, set, faults, readOnly }: Props): ReactElement {
  const current = draft.visitor_limits;
  return (
    <Fieldset legend={texts.limitsPerIpAddress}>
      <Text size="sm" c="dimmed" mb="sm">
        {texts.limitsPerIpAddressHelp}
      </Text>
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {limits.map(({ field, label, description }) => (
          <NumberInput
            key={field}
            label={label}
            description={description}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            min={1}
            max={maxPerAddress}
            clampBehavior="blur"
            allowDecimal={false}
            value={current[field]}
            onChange={(value) => set({ visitor_limits: { ...current, [field]: Number(value) } })}
            error={faults(`/visitor_limits/${field}`)}
            readOnly={readOnly}
          />
        ))}
      </SimpleGrid>
      <Switch
        mt="md"
        label={texts.removeAbsentVisitorsFromQueue}
        description={texts.removeAbsentVisitorsHelp}
        checked={draft.ticket_needs_presence}
        onChange={(event) => set({ ticket_needs_presence: event.currentTarget.checked })}
        disabled={readOnly}
      />
    </Fieldset>
  );
}

/** For programs that were written for other services. */
function ClientFields({ draft, set, faults, readOnly }: Props): ReactElement {
  return (
    <Fieldset legend={texts.compatibility}>
      <Select
        label={texts.messagesSentToAttachedWebhooks}
        description={texts.attachedWebhooksHelp}
        data={messageAudiences.map((whose) => ({ value: whose, label: audienceNames[whose] }))}
        value={draft.attached_webhook_messages}
        onChange={(chosen) =>
          set({ attached_webhook_messages: messageAudiences.find((whose) => whose === chosen) ?? 'own' })
        }
        allowDeselect={false}
        error={faults('/attached_webhook_messages')}
        readOnly={readOnly}
      />
      <Switch
        mt="md"
        label={texts.ignoreUnknown}
        description={texts.ignoreUnknownHelp}
        checked={draft.lenient_requests}
        onChange={(event) => set({ lenient_requests: event.currentTarget.checked })}
        disabled={readOnly}
      />
    </Fieldset>
  );
}

function FileFields({ draft, set, faults, readOnly }: Props): ReactElement {
  const senders = draft.allowed_file_senders;
  return (
    <Fieldset legend={texts.files}>
      <Stack gap="sm">
        <Group gap="lg">
          <Checkbox
            label={texts.operatorsCanSendFiles}
            checked={senders.operator}
            onChange={(event) => set({ allowed_file_senders: { ...senders, operator: event.currentTarget.checked } })}
            disabled={readOnly}
          />
          <Checkbox
            label={texts.visitorsCanSendFiles}
            checked={senders.visitor}
            onChange={(event) => set({ allowed_file_senders: { ...senders, visitor: event.currentTarget.checked } })}
            disabled={readOnly}
          />
        </Group>
        <TagsInput
          label={texts.allowedFileTypes}
          description={texts.allowedFileTypesHelp}
          value={[...draft.allowed_file_content_types]}
          onChange={(allowed) => set({ allowed_file_content_types: allowed })}
          error={faults('/allowed_file_content_types')}
          readOnly={readOnly}
        />
      </Stack>
    </Fieldset>
  );
}
