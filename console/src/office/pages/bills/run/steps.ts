import { signal } from '@preact/signals';
import type { BillingRunCourier, BillingRunResult } from '../../../../../../sdk/typescript/src/index.js';
import { api, messageOf, session } from '../../../../session/session.js';

export type RunRequest =
  | {
      action: 'draft';
      month: string;
      service_type: string;
      tax_rate?: number;
      remarks?: string;
      courier_ids?: string[];
    }
  | { action: 'publish'; month: string; courier_ids?: string[] }
  | { action: 'send'; month: string; language?: 'en' | 'es'; courier_ids?: string[] };

export type RunAction = RunRequest['action'];

export type Run = {
  request: RunRequest;
  /** The user who began it. Nobody else sees it or goes on with it. */
  userId: string;
  /** `stopping`: the step that is under way still ends. */
  state: 'running' | 'stopping' | 'stopped' | 'failed' | 'done';
  /** The couriers that are expected to have a result. */
  couriers: number;
  results: BillingRunResult[];
  /** Where the next step begins. Undefined: at the first courier. */
  after: string | undefined;
  error: string | undefined;
};

const last = signal<Run | undefined>(undefined);

/** Returns the run of this tab, also after a look at another page. A reload ends it after its step. */
export const currentRun = (): Run | undefined =>
  last.value?.userId === session.value?.user.id ? last.value : undefined;

export const isActive = (run: Run | undefined): boolean =>
  run?.state === 'running' || run?.state === 'stopping';

export function closeRun(): void {
  last.value = undefined;
}

export function stopRun(): void {
  if (last.value?.state === 'running') change({ state: 'stopping' });
}

export function startRun(request: RunRequest, couriers: number): void {
  const userId = session.value?.user.id;
  if (isActive(last.value) || userId === undefined) return;
  last.value = {
    request,
    userId,
    couriers,
    state: 'running',
    results: [],
    after: undefined,
    error: undefined,
  };
  void takeSteps();
}

/** Goes on where a run was stopped or has failed. A step that was stored although its answer is lost changes nothing again. */
export function continueRun(): void {
  if (isActive(last.value)) return;
  change({ state: 'running', error: undefined });
  void takeSteps();
}

function change(changes: Partial<Run>): void {
  if (last.value) last.value = { ...last.value, ...changes };
}

async function takeSteps(): Promise<void> {
  for (let run = last.value; run && isActive(run); run = last.value) {
    if (run.userId === session.value?.user.id) change(await stepOf(run));
    else closeRun();
  }
}

/** Takes the next step. Returns what has changed. */
async function stepOf({ request, after, results, state }: Run): Promise<Partial<Run>> {
  if (state === 'stopping') return { state: 'stopped' };
  try {
    const { data } = await api().billing.manageRun({ ...request, ...(after ? { after } : {}) });
    return {
      results: merged(results, data.results),
      ...(data.next_after === null ? { state: 'done' } : { after: data.next_after }),
    };
  } catch (error) {
    return { state: 'failed', error: messageOf(error) };
  }
}

/** A courier with more bills than a step publishes has a result in each of two steps. */
function merged(before: BillingRunResult[], next: BillingRunResult[]): BillingRunResult[] {
  const known = new Map(before.map((result) => [result.courier_id, result]));
  for (const result of next) {
    const first = known.get(result.courier_id);
    known.set(result.courier_id, first ? bothOf(first, result) : result);
  }
  return [...known.values()];
}

function bothOf(first: BillingRunResult, second: BillingRunResult): BillingRunResult {
  const main = first.outcome === 'refused' || second.outcome === 'unchanged' ? first : second;
  return { ...main, bills: [...first.bills, ...second.bills] };
}

/** What a run would do. Amounts are in US dollars; those of drafts that do not exist yet are without tax. */
export type Scope = {
  /** The chosen couriers. Undefined: all. */
  ids: string[] | undefined;
  couriers: number;
  /** The couriers that will have a result: with `draft` and without a choice, those without packages too. */
  expected: number;
  bills: number;
  packages: number;
  amount: number;
  warned: number;
  /** The couriers with bills that were not sent, and without a usable address. */
  withoutAddress: number;
  /** The bills that were sent already. */
  sentBefore: number;
};

export const canDraft = ({ unbilled_packages, drafts }: BillingRunCourier): boolean =>
  unbilled_packages > 0 && drafts.bills === 0;

export const canPublish = ({ drafts }: BillingRunCourier): boolean => drafts.bills > 0;

export const hasUnsent = ({ unsent_bills }: BillingRunCourier): boolean => unsent_bills > 0;

const lacksAddress = ({ warnings }: BillingRunCourier): boolean =>
  warnings.some(({ code }) => code === 'address_missing');

const SUITS: Record<RunAction, (row: BillingRunCourier) => boolean> = {
  draft: canDraft,
  publish: canPublish,
  send: (row) => hasUnsent(row) && !lacksAddress(row),
};

/** Whether a courier has a result although it was not chosen. */
const HAS_RESULT: Record<RunAction, (row: BillingRunCourier) => boolean> = {
  draft: () => true,
  publish: canPublish,
  send: ({ published }) => published.bills > 0,
};

const BILLS: Record<RunAction, (row: BillingRunCourier) => number> = {
  draft: () => 1,
  publish: ({ drafts }) => drafts.bills,
  send: ({ unsent_bills }) => unsent_bills,
};

/** Returns what an action does to some couriers. */
export function scopeOf(action: RunAction, rows: BillingRunCourier[], isChosen: boolean): Scope {
  const suited = rows.filter(SUITS[action]);
  const sum = (of: BillingRunCourier[], value: (row: BillingRunCourier) => number) =>
    of.reduce((total, row) => total + value(row), 0);
  return {
    ids: isChosen ? suited.map(({ courier_id }) => courier_id) : undefined,
    couriers: suited.length,
    expected: isChosen ? suited.length : rows.filter(HAS_RESULT[action]).length,
    bills: sum(suited, BILLS[action]),
    packages: sum(suited, ({ unbilled_packages }) => unbilled_packages),
    amount: sum(suited, (row) => (action === 'draft' ? row.unbilled_amount : row.drafts.amount)),
    // What is wrong with packages. An address is needed only to send.
    warned: suited.filter(({ warnings }) => warnings.some(({ code }) => code !== 'address_missing')).length,
    withoutAddress: rows.filter(lacksAddress).length,
    sentBefore: sum(rows, ({ sent_bills }) => sent_bills),
  };
}

const LARGEST_PAGE = 100;

/** Asks for the present figures of all couriers, page by page, and keeps only their sums. */
export async function scopeOfAll(action: RunAction, month: string): Promise<Scope> {
  let scope = scopeOf(action, [], false);
  for (let page = 1; ; page += 1) {
    const { data, meta } = await api().billing.listRun({ month, page, limit: LARGEST_PAGE });
    const next = scopeOf(action, data, false);
    scope = {
      ids: undefined,
      couriers: scope.couriers + next.couriers,
      expected: scope.expected + next.expected,
      bills: scope.bills + next.bills,
      packages: scope.packages + next.packages,
      amount: scope.amount + next.amount,
      warned: scope.warned + next.warned,
      withoutAddress: scope.withoutAddress + next.withoutAddress,
      sentBefore: scope.sentBefore + next.sentBefore,
    };
    if (page >= meta.total_pages) return scope;
  }
}
