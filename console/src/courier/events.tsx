import { useState } from 'preact/hooks';
import type { ListEventsResponse } from '../../../sdk/typescript/src/index.js';
import { single } from '../device/single.js';
import { eventsTexts } from '../integration/events-texts.js';
import { api } from '../session/session.js';
import { addTexts, dateTime, t, textOf } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Content, Dialog, Empty, Heading, Table } from '../ui/parts.js';
import { eventFeedTexts } from './event-feed-texts.js';
import { PageTabs } from './ui/page-tabs.js';

addTexts(eventsTexts);
addTexts(eventFeedTexts);

type CourierEvent = ListEventsResponse['data'][number];
type Feed = { rows: CourierEvent[]; from: number; first: number; last: number };

const SHOWN = 50;

/** Loads the events up to a number, the newest first. The feed is in the order of its numbers, which have no gap. */
async function load(until: number | undefined, signal: AbortSignal): Promise<Feed> {
  const read = async (after: number, limit: number) => api().events.list({ after, limit }, { signal });
  const last = until ?? (await read(0, 1)).meta.last_sequence;
  const after = Math.max(0, last - SHOWN);
  const { data, meta } = await read(after, Math.max(1, last - after));
  return {
    rows: data.filter(({ sequence }) => sequence <= last).toReversed(),
    from: after,
    first: meta.first_sequence ?? 0,
    last: meta.last_sequence,
  };
}

/** What happened at the courier's parcels, announcements, bills and flights, as its systems read it and as webhooks contain it. */
export function EventsPage() {
  const [until, setUntil] = useState<number>();
  const [shown, setShown] = useState<CourierEvent>();
  const feed = useLoad((signal) => load(until, signal), [until]);
  return (
    <>
      <Heading title={t('eventFeed.title')}>
        <button type="button" onClick={() => (until === undefined ? feed.reload() : setUntil(undefined))}>
          {t('today.refresh')}
        </button>
      </Heading>
      <PageTabs of="developers" />
      <p class="lead">
        {t('eventFeed.lead')} <a href="/docs/reference/listEvents">{t('eventFeed.docs')}</a>
      </p>
      <Content of={feed}>
        {(data) =>
          data.rows.length === 0 ? (
            <Empty title={t('eventFeed.none')}>{t('eventFeed.noneHint')}</Empty>
          ) : (
            <>
              <EventTable rows={data.rows} onOpen={setShown} />
              <div class="actions">
                <button
                  type="button"
                  disabled={data.from + SHOWN >= data.last}
                  onClick={() => setUntil(Math.min(data.last, data.from + 2 * SHOWN))}
                >
                  {t('eventFeed.newer')}
                </button>
                <button
                  type="button"
                  disabled={data.from === 0 || data.from < data.first}
                  onClick={() => setUntil(data.from)}
                >
                  {t('eventFeed.older')}
                </button>
              </div>
            </>
          )
        }
      </Content>
      {shown && <EventDialog event={shown} onClose={() => setShown(undefined)} />}
    </>
  );
}

type TableProps = { rows: CourierEvent[]; onOpen: (event: CourierEvent) => void };

const EventTable = ({ rows, onOpen }: TableProps) => (
  <Table
    caption={t('eventFeed.title')}
    rows={rows}
    keyOf={({ event_id }) => event_id}
    columns={[
      { title: t('eventFeed.number'), cell: ({ sequence }) => sequence, isNumber: true },
      { title: t('calls.at'), cell: ({ timestamp }) => dateTime(timestamp) },
      {
        title: t('eventFeed.what'),
        cell: (event) => (
          <button type="button" class="quiet" onClick={single(() => onOpen(event))}>
            {textOf('events', event.type)}
            <span class="unseen"> {event.sequence}</span>
          </button>
        ),
      },
      { title: t('eventFeed.of'), cell: (event) => <span class="mono">{recordOf(event)}</span> },
    ]}
  />
);

const NAMES = ['house_number', 'invoice_number', 'manifest_number', 'tracking_number'];

/** The number of what the event is about. */
function recordOf({ data }: CourierEvent): string {
  const fields: Record<string, unknown> = { ...data };
  const name = NAMES.find((each) => typeof fields[each] === 'string');
  return name === undefined ? '—' : String(fields[name]);
}

const EventDialog = ({ event, onClose }: { event: CourierEvent; onClose: () => void }) => (
  <Dialog title={`${event.type} ${event.sequence}`} onClose={onClose}>
    <pre class="code" tabIndex={0} role="group" aria-label={t('eventFeed.content')}>
      {JSON.stringify(event, null, 2)}
    </pre>
  </Dialog>
);
