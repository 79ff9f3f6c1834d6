import { setTimeout as sleep } from 'node:timers/promises';
import type { CourierEvent } from '../generated/core/types.gen.js';
import { CursorAheadError } from '../errors.js';
import { forward, type Answer, type Receiver } from './forward.js';
import type { Options } from './options.js';

const PAGE = 500;
const PAUSE_MS = 2_000;

/** The part of a page of events that is read here. */
type EventPage = {
  data: CourierEvent[];
  meta: {
    next_after: number;
    has_more: boolean;
    first_sequence: number | null;
    last_sequence: number;
    is_ahead: boolean;
  };
};

export type Feed = (filters: { after: number; limit: number }) => PromiseLike<EventPage>;

export type Listener = {
  feed: Feed;
  receiver: Receiver;
  range: Pick<Options, 'after' | 'until' | 'once' | 'types'>;
  print(line: string): void;
  /** Ends the wait for new events, and the run after the event that is being posted. */
  stop: AbortSignal;
};

/** How many events were posted, and the sequences of those that the program did not accept. */
export type Summary = { posted: number; failed: number[] };

/**
 * Posts the events of a range, one after the other, and then waits for new ones, unless the range ends.
 *
 * @throws CrossdockError if the feed cannot be read, CursorAheadError if the range begins after its end
 */
export async function listen({ feed, receiver, range, print, stop }: Listener): Promise<Summary> {
  const summary: Summary = { posted: 0, failed: [] };
  const { until = Infinity, types } = range;
  const isStopped = () => stop.aborted;
  let after = range.after ?? (await lastSequence(feed));
  print(range.after === undefined ? `Waiting for events after ${after}.` : `Posting events after ${after}.`);
  while (!isStopped() && after < until) {
    const { data, meta } = await feed({ after, limit: PAGE });
    if (meta.is_ahead) throw new CursorAheadError(after, meta.last_sequence);
    noteDeleted(after, meta, print);
    for (const event of data) {
      if (isStopped() || event.sequence > until) break;
      after = event.sequence;
      if (types.length > 0 && !types.includes(event.type)) continue;
      const answer = await forward(event, receiver);
      summary.posted += 1;
      if (!answer.isAccepted) summary.failed.push(event.sequence);
      print(lineOf(event, answer));
    }
    if (meta.has_more || after >= until || isStopped()) continue;
    if (range.once) break;
    // Rejects if the program is to end.
    await sleep(PAUSE_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  return summary;
}

async function lastSequence(feed: Feed): Promise<number> {
  return (await feed({ after: 0, limit: 1 })).meta.last_sequence;
}

/** Events are deleted after 90 days. */
function noteDeleted(
  after: number,
  { first_sequence: first }: EventPage['meta'],
  print: Listener['print'],
): void {
  if (first !== null && first > after + 1) print(`The events from ${after + 1} to ${first - 1} are deleted.`);
}

function lineOf(
  { sequence, type, event_id }: CourierEvent,
  { isAccepted, status, text, ms }: Answer,
): string {
  const outcome = [status, text].filter((part) => part !== undefined && part !== '').join(' ');
  return `${isAccepted ? 'ok    ' : 'FAILED'} ${sequence} ${type} ${event_id} ${ms} ms ${outcome}`;
}

/** What to say at the end. */
export function describe({ posted, failed }: Summary): string {
  const events = `${posted} ${posted === 1 ? 'event' : 'events'} posted`;
  if (failed.length === 0) return `${events}.`;
  const [first = 0, last = 0] = [failed[0], failed.at(-1)];
  return `${events}, ${failed.length} not accepted: ${failed.slice(0, 20).join(', ')}${failed.length > 20 ? ' and more' : ''}.
To post these and those between them again: --after ${first - 1} --until ${last}`;
}
