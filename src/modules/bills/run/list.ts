import type { UserContext } from '../../../platform/context/request-context.js';
import type { QueryOf } from '../../../platform/contract/types.js';
import { hasAddress } from '../mails/send.js';
import {
  billsOfCouriers,
  countOfCouriers,
  countOfOwnerless,
  disputedOfCouriers,
  pageOfCouriers,
  sumsOfCouriers,
  sumsOfMonth,
  sumsOfUnbilled,
  type CourierRow,
  type RunBillRow,
  type SumsRow,
  type UnbilledRow,
} from './list-queries.js';
import { periodOfMonth } from '../../../platform/values/time.js';

/** The bills that are shown of each courier. */
const MAX_BILLS = 20;
const NONE: SumsRow = { bills: 0, amount: '0' };

export type RunCourier = {
  courier: CourierRow;
  unbilled: UnbilledRow;
  drafts: SumsRow;
  published: SumsRow;
  /** The published bills that were sent or are queued. */
  sentBills: number;
  /** Whether bills can be sent to the courier. */
  hasAddress: boolean;
  bills: RunBillRow[];
  disputed: number;
};

export type BillingRun = {
  couriers: RunCourier[];
  total: number;
  totals: { drafts: SumsRow; published: SumsRow; ownerless: number };
};

/** Returns one page of couriers with what is unbilled and billed of a month, from one snapshot. Stores nothing. */
export function readBillingRun(ctx: UserContext, query: QueryOf<'listBillingRun'>): Promise<BillingRun> {
  const month = periodOfMonth(query.month);
  return ctx.read(
    async (tx) => {
      const [page, [counted], [sums], [ownerless]] = await tx.query([
        pageOfCouriers(tx, query),
        countOfCouriers(tx),
        sumsOfMonth(tx, month),
        countOfOwnerless(tx, month),
      ]);
      const ids = page.map(({ courierId }) => courierId);
      const [bills, sumsEach, disputed] = await tx.query([
        billsOfCouriers(tx, ids, month, { limit: MAX_BILLS }),
        sumsOfCouriers(tx, ids, month),
        disputedOfCouriers(tx, ids, month),
      ]);
      const unbilled = await tx.query(ids.map((id) => sumsOfUnbilled(tx, id, month)));
      const couriers = page.map(({ email, ...courier }, index) => {
        const { courierId: id } = courier;
        const [own] = unbilled[index] ?? [];
        if (!own) throw new Error('A sum of packages returned no row.');
        const billed = sumsEach.find(({ courierId }) => courierId === id);
        return {
          courier,
          unbilled: own,
          drafts: billed?.drafts ?? NONE,
          published: billed?.published ?? NONE,
          sentBills: billed?.sentBills ?? 0,
          hasAddress: hasAddress({ email }),
          bills: bills.filter(({ courierId }) => courierId === id),
          disputed: disputed.find(({ courierId }) => courierId === id)?.packages ?? 0,
        };
      });
      const totals = {
        drafts: sums?.drafts ?? NONE,
        published: sums?.published ?? NONE,
        ownerless: ownerless?.total ?? 0,
      };
      return { couriers, total: counted?.total ?? 0, totals };
    },
    { from: 'replica' },
  );
}
