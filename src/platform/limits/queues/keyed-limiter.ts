// Our own: p-queue and bottleneck have neither round-robin between keys nor a bounded queue that drops a task of the key with most tasks.
import { ApiError } from '../../errors/errors.js';
import type { UserCaller } from '../../identity/callers.js';
import type { Networks } from '../../values/network-address.js';
import { makeBlockTurns } from './block-turns.js';
import { findReplaced, type Owner, type WaitingCall as Call } from './replaced-call.js';
import { makeNestedTurns, type Place } from './nested-turns.js';
import { makeTurns, type Turns } from './turns.js';

/**
 * Whose call it is, if not that of the key. Known callers and all others take turns, so that strangers get at most half while known ones
 * wait. In each of the two, tenants take turns, the networks of a tenant from which calls come, the keys of a network, and the callers of
 * a key. A key belongs to one tenant.
 */
export type CallOwner = {
  tenant?: string;
  networks?: Networks;
  caller?: string;
  /** Whether the call is not that of a known caller. */
  isStranger?: boolean;
};

/** Where the calls of a user who has logged in come from: all users of a courier from one place, and each of the staff from its own. */
export function placeOfTeam({ courierId, userId }: Pick<UserCaller, 'courierId' | 'userId'>): Networks {
  const team = courierId === null ? `user ${userId}` : `courier ${courierId}`;
  return { block: team, line: team, network: team };
}

export type KeyedLimiter = {
  /**
   * Runs the work as soon as the limits allow it.
   *
   * @throws ApiError overloaded when it could not start in time
   */
  run<Result>(key: string, work: (giveWay: GiveWay) => Promise<Result>, owner?: CallOwner): Promise<Result>;
  /** Whether a call with this key would run or wait, instead of being rejected. */
  hasSpace(key: string): boolean;
  /** For callers that have something to do before they wait. @throws ApiError overloaded if the queue is full for this key */
  assertSpace(key: string, owner?: CallOwner): void;
};

/**
 * To be awaited between the pieces of a work, where it holds nothing that others need. Other keys and other callers of the key run
 * first, further calls of the same caller do not. It never fails, because a part of the work is done.
 */
export type GiveWay = () => Promise<void>;

export type KeyedLimiterOptions = {
  /** The number of calls that run at the same time. */
  concurrency: number;
  /** Of these, the number of one tenant. By default all. */
  perTenant?: number;
  /** The number of calls that may wait: of known callers, and so many of others. */
  maxWaiting: number;
  maxWaitMs: number;
  /** The Retry-After of rejected calls. */
  retryAfterSeconds: number;
};

type Waiter = { owner: Owner; start(): void };
/** `strangersBlock` is undefined for known callers. */
type Queue = Turns<Waiter> & Pick<Owner, 'tenant' | 'key'> & { strangersBlock: string | undefined };

/**
 * Limits the concurrency of expensive work in one process: at most `concurrency` calls in total and one per key, with a
 * bounded queue. Known callers and others, tenants, networks, keys and callers take turns. When the queue is full, the newest call of the
 * tenant with the most waiting calls is rejected, or of the network, the key or the caller with the most, so that a flood of one does not
 * reject the calls of others.
 */
export function makeKeyedLimiter({
  concurrency,
  perTenant = concurrency,
  maxWaiting,
  maxWaitMs,
  retryAfterSeconds,
}: KeyedLimiterOptions): KeyedLimiter {
  const running = new Map<string, Owner>();
  const queues = makeNestedTurns<Queue>((place) => Object.assign(makeTurns<Waiter>(), partsOf(place)));
  const blocks = makeBlockTurns();
  // Without work that has given way, which cannot be rejected.
  const calls = new Set<Call>();
  const overloaded = () => new ApiError('overloaded', { retryAfterSeconds });

  const countOf = (tenant: string) => [...running.values()].filter((owner) => owner.tenant === tenant).length;

  function startNext(): void {
    if (running.size === concurrency) return;
    const isReady = ({ tenant, key }: Queue) => !running.has(key) && countOf(tenant) < perTenant;
    const due = blocks.due(() =>
      queues.queues().flatMap((queue) => (isReady(queue) ? (queue.strangersBlock ?? []) : [])),
    );
    const isDue = ({ strangersBlock: block }: Queue) =>
      due === undefined || block === undefined || block === due;
    const next = queues.takeNext(
      (queue) => isReady(queue) && isDue(queue),
      (queue) => queue.takeFirst(),
    );
    if (!next) return;
    const { owner } = next;
    running.set(owner.key, owner);
    if (owner.group === 'others') blocks.note(owner.block);
    next.start();
  }

  function release({ key }: Owner): void {
    running.delete(key);
  }

  /** Returns whether a call can wait, and the call that it would replace if the queue is full. */
  function findSpace(owner: Owner): { isFree: boolean; replaced?: Call | undefined } {
    const others = [...calls].filter(({ group }) => group === owner.group);
    if (others.length < maxWaiting) return { isFree: true };
    const replaced = findReplaced(others, owner);
    return { isFree: replaced !== undefined, replaced };
  }

  function acquire(owner: Owner): Promise<void> {
    const { caller } = owner;
    const place = placeOf(owner);
    const { isFree, replaced } = findSpace(owner);
    if (!isFree) return Promise.reject(overloaded());
    replaced?.reject();
    return new Promise((resolve, rejectCall) => {
      const end = () => {
        clearTimeout(timer);
        calls.delete(call);
      };
      const waiter: Waiter = {
        owner,
        start() {
          end();
          resolve();
        },
      };
      const call: Call = {
        ...owner,
        reject() {
          end();
          queues.find(place)?.remove(caller, waiter);
          queues.removeEmpty(place);
          rejectCall(overloaded());
        },
      };
      const timer = setTimeout(call.reject, maxWaitMs);
      calls.add(call);
      queues.open(place).add(caller, waiter);
      startNext();
    });
  }

  function giveWay(owner: Owner): Promise<void> {
    return new Promise((resolve) => {
      const place = placeOf(owner);
      queues.open(place).addFirst(owner.caller, { owner, start: resolve });
      queues.moveToEnd(place);
      release(owner);
      startNext();
    });
  }

  return {
    hasSpace: (key) => findSpace(ownerOf(key)).isFree,
    assertSpace(key, owner) {
      if (!findSpace(ownerOf(key, owner)).isFree) throw overloaded();
    },
    async run(key, work, given) {
      const owner = ownerOf(key, given);
      await acquire(owner);
      try {
        return await work(() => giveWay(owner));
      } finally {
        release(owner);
        startNext();
      }
    },
  };
}

const ownerOf = (
  key: string,
  { tenant = key, networks, caller = key, isStranger = false }: CallOwner = {},
): Owner => ({
  group: isStranger ? 'others' : 'known',
  tenant,
  ...(networks ?? { block: key, line: key, network: key }),
  key,
  caller,
});

const placeOf = ({ group, tenant, block, line, network, key }: Owner): Place => [
  group,
  tenant,
  block,
  line,
  network,
  key,
];

const partsOf = ([group, tenant = '', block, ...rest]: Place) => ({
  tenant,
  key: rest.at(-1) ?? '',
  strangersBlock: group === 'others' ? block : undefined,
});
