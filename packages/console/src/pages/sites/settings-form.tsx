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
import { inWordsOf, originOf, type SiteDraft } from './draft.ts';
import { TimeZone } from './time-zone.tsx';
import { audienceNames } from './views.ts';

interface Props {
  readonly draft: SiteDraft;
  readonly set: (part: Partial<SiteDraft>) => void;
  readonly faults: Faults;
  readonly readOnly: boolean;
}

/** Every field of a site. */
export function SiteForm(props: Props): ReactElement {
  const { draft, set, faults, readOnly } = props;
  return (
    <Stack gap="lg" maw={760}>
      <Stack gap="sm">
        <TextInput
          label="Name"
          required
          maxLength={maxNameLength}
          value={draft.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={faults('/name')}
          readOnly={readOnly}
        />
        <TagsInput
          label="Addresses"
          description="Where the site is to be found, for people to read. Enter adds one."
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
          label="Allowed origins"
          description="Pages that may use the API and carry the widget, such as https://www.example.com. Enter adds one."
          placeholder={draft.allowed_origins.length === 0 ? 'None: only pages of this server' : ''}
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
    label: 'Operator answers within',
    description: 'An offer that nobody answers goes to somebody else.',
    max: maxOfferTimeoutSec,
  },
  {
    field: 'proactive_call_timeout',
    label: 'Visitor answers within',
    description: 'What an operator asks a visitor fails after it.',
    max: maxOfferTimeoutSec,
  },
  {
    field: 'queue_ticket_timeout_sec',
    label: 'Visitor waits at most',
    description: 'Who waits longer has left the queue.',
    max: maxTicketTimeoutSec,
  },
] as const;

function TimeFields({ draft, set, faults, readOnly }: Props): ReactElement {
  return (
    <Fieldset legend="Waiting">
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        {times.map(({ field, label, description, max }) => (
          <NumberInput
            key={field}
            label={label}
            description={`${description} Now ${inWordsOf(draft[field])}.`}
            inputWrapperOrder={['label', 'input', 'description', 'error']}
            suffix=" s"
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
        label="An operator who misses an offer is set away"
        checked={draft.missed_call_unavailability_enabled}
        onChange={(event) => set({ missed_call_unavailability_enabled: event.currentTarget.checked })}
        disabled={readOnly}
      />
      <Switch
        mt="md"
        label="Visitors can attach webhooks"
        description="Receivers that a visitor's own client names with a ticket or request. The widget needs none."
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
    label: 'New visitors per minute',
    description: 'Visitors one address can create in a minute.',
  },
  {
    field: 'open_tickets_per_address',
    label: 'Waiting at the same time',
    description: 'Keep this below the capacity of your smallest queue.',
  },
  {
    field: 'open_feeds_per_address',
    label: 'Live connections',
    description: 'Browser tabs of one address that wait or chat.',
  },
] as const;

/** What one address may have, so that one caller cannot fill a queue. */
function LimitFields({ draft, set, faults, readOnly }: Props): ReactElement {
  const given = draft.visitor_limits;
  return (
    <Fieldset legend="Limits per address">
      <Text size="sm" c="dimmed" mb="sm">
        For visitors from web pages. An office or a mobile network often has one address for many people. Visitors that
        your own servers create with a secret token are not limited.
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
            value={given[field]}
            onChange={(value) => set({ visitor_limits: { ...given, [field]: Number(value) } })}
            error={faults(`/visitor_limits/${field}`)}
            readOnly={readOnly}
          />
        ))}
      </SimpleGrid>
      <Switch
        mt="md"
        label="Remove visitors who are not there from the queue"
        description="A visitor who gives no sign of life within a minute loses their place. The widget does this by itself; your own clients must report presence."
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
    <Fieldset legend="Existing programs">
      <Select
        label="Messages sent to attached webhooks"
        description="Bots and bridges to other messengers that attach a webhook to a ticket need the other side's messages."
        data={messageAudiences.map((whose) => ({ value: whose, label: `Messages ${audienceNames[whose]}` }))}
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
        label="Ignore fields and query parameters that Usher does not know"
        description="For programs that send more than Usher knows. When off, such requests are refused, so typos are noticed."
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
    <Fieldset legend="Files">
      <Stack gap="sm">
        <Group gap="lg">
          <Checkbox
            label="Operators may send files"
            checked={senders.operator}
            onChange={(event) => set({ allowed_file_senders: { ...senders, operator: event.currentTarget.checked } })}
            disabled={readOnly}
          />
          <Checkbox
            label="Visitors may send files"
            checked={senders.visitor}
            onChange={(event) => set({ allowed_file_senders: { ...senders, visitor: event.currentTarget.checked } })}
            disabled={readOnly}
          />
        </Group>
        <TagsInput
          label="Types of files"
          description="Content types such as application/pdf, or image/* for all of a kind. Enter adds one."
          value={[...draft.allowed_file_content_types]}
          onChange={(allowed) => set({ allowed_file_content_types: allowed })}
          error={faults('/allowed_file_content_types')}
          readOnly={readOnly}
        />
      </Stack>
    </Fieldset>
  );
}
