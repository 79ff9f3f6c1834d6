/**
 * Whose writes count together: a courier with all its users, keys and tokens, one user or service token of the staff, or the whole
 * staff of a tenant. `user_secrets` counts the secrets that one user replaces.
 */
export type WriteOwner = {
  tenantId: string;
  kind: 'courier' | 'user' | 'staff' | 'user_secrets';
  id: string;
};

/** What each kind of owner may write in 24 hours: bytes, or secrets. */
export type WriteLimits = Record<WriteOwner['kind'], number>;

const SHARES_OF_STAFF = 10;

export const writeLimits = (bytesPerDay: number, secretsPerDay: number): WriteLimits => ({
  courier: bytesPerDay,
  user: bytesPerDay,
  staff: SHARES_OF_STAFF * bytesPerDay,
  user_secrets: secretsPerDay,
});

/**
 * A token bucket per owner for what its requests make the service write (decision 0131). The database has what all processes have taken.
 * A process grants in memory, and adds up to a slice before it asks the database again.
 */
export type WriteAllowance<Store> = {
  /**
   * Takes an amount before the work: bytes, or secrets.
   *
   * @throws what the settlement throws, for all that wait for it. The next call settles anew.
   */
  take(owner: WriteOwner, amount: number, store: Store): Promise<Grant | Refusal>;
  /** Adds the amount of work that is done, also above the limit. */
  add(owner: WriteOwner, amount: number, store: Store): void;
  /** Settles what the database does not have yet. */
  flush(): Promise<void>;
  /** Stops the timer, and settles the rest. */
  stop(): Promise<void>;
};

/** `settle` replaces what was taken by what the work has written, also above the limit. */
export type Grant = { isGranted: true; settle(written: number): void };
export type Refusal = { isGranted: false; retryAfterSeconds: number };

export type WriteAllowanceOptions<Store> = {
  limits: WriteLimits;
  /** Adds an amount to the owner's level in the database, or subtracts them. Returns the level after it. */
  settle: (owner: WriteOwner, amount: number, store: Store) => Promise<number>;
  onRefused?: ((owner: WriteOwner, isFirst: boolean) => void) | undefined;
  onError: (error: unknown) => void;
};

const DAY_MS = 24 * 60 * 60 * 1000;
/** The part of the allowance that one process may grant without the database. */
const SLICES = 256;
const FLUSH_MS = 5_000;
/** An owner that is refused is reported once within this time. */
const REPORT_EVERY_MS = 60 * 60 * 1000;

/** `level` is what the database had at `levelAtMs`; `sent` is in a settlement, `pending` waits for one. All in bytes, or secrets. */
type Account<Store> = {
  owner: WriteOwner;
  store: Store;
  level: number;
  levelAtMs: number;
  sent: number;
  pending: number;
  settlement: Promise<void> | undefined;
  reportedAtMs: number;
};

export function makeWriteAllowance<Store>({
  limits,
  settle,
  onRefused,
  onError,
}: WriteAllowanceOptions<Store>): WriteAllowance<Store> {
  const accounts = new Map<string, Account<Store>>();
  const timer = setInterval(() => void flush(), FLUSH_MS).unref();

  function open(owner: WriteOwner, store: Store): Account<Store> {
    const key = `${owner.tenantId} ${owner.kind} ${owner.id}`;
    const account = accounts.get(key) ?? newAccount(owner, store);
    account.store = store;
    accounts.set(key, account);
    return account;
  }

  const limitOf = ({ owner: { kind } }: Account<Store>) => limits[kind];
  const sliceOf = (account: Account<Store>) => Math.ceil(limitOf(account) / SLICES);
  const refilledPerMs = (account: Account<Store>) => limitOf(account) / DAY_MS;

  function usedBy(account: Account<Store>): number {
    const { level, levelAtMs, sent, pending } = account;
    const refilled = (performance.now() - levelAtMs) * refilledPerMs(account);
    return Math.max(0, level - refilled) + sent + pending;
  }

  /** Requests that wait share one settlement, and its failure. */
  function settleOnce(account: Account<Store>): Promise<void> {
    account.settlement ??= send(account).finally(() => {
      account.settlement = undefined;
    });
    return account.settlement;
  }

  async function send(account: Account<Store>): Promise<void> {
    account.sent = account.pending;
    account.pending = 0;
    try {
      account.level = await settle(account.owner, account.sent, account.store);
      account.levelAtMs = performance.now();
    } catch (error) {
      account.pending += account.sent;
      throw error;
    } finally {
      account.sent = 0;
    }
  }

  function charge(account: Account<Store>, amount: number): void {
    account.pending += amount;
    // Half a slice early, so that a steady caller does not wait for the answer.
    if (account.pending >= sliceOf(account) / 2) void settleOnce(account).catch(onError);
  }

  function refuse(account: Account<Store>, excess: number): Refusal {
    const isFirst = performance.now() - account.reportedAtMs > REPORT_EVERY_MS;
    if (isFirst) account.reportedAtMs = performance.now();
    onRefused?.(account.owner, isFirst);
    return {
      isGranted: false,
      retryAfterSeconds: Math.max(1, Math.ceil(excess / refilledPerMs(account) / 1000)),
    };
  }

  async function flush(): Promise<void> {
    for (const [key, account] of accounts) {
      if (account.pending !== 0) await settleOnce(account).catch(onError);
      // Without it, this process would grant at most one slice before it knows the level again.
      if (account.pending === 0 && account.sent === 0 && usedBy(account) < sliceOf(account))
        accounts.delete(key);
    }
  }

  return {
    async take(owner, amount, store) {
      const account = open(owner, store);
      while (account.sent + account.pending >= sliceOf(account)) await settleOnce(account);
      const limit = limits[owner.kind];
      // More than the whole allowance is never left.
      const cost = Math.min(amount, limit);
      const excess = usedBy(account) + cost - limit;
      if (excess > 0) return refuse(account, excess);
      charge(account, cost);
      return {
        isGranted: true,
        settle(written) {
          if (written !== amount) charge(open(owner, store), Math.min(written, limit) - cost);
        },
      };
    },
    add: (owner, amount, store) => charge(open(owner, store), amount),
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}

const newAccount = <Store>(owner: WriteOwner, store: Store): Account<Store> => ({
  owner,
  store,
  level: 0,
  levelAtMs: performance.now(),
  sent: 0,
  pending: 0,
  settlement: undefined,
  reportedAtMs: -Infinity,
});
