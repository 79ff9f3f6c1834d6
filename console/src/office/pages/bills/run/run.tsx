import { useEffect, useRef, useState } from 'preact/hooks';
import type { BillingRunTotals } from '../../../../../../sdk/typescript/src/index.js';
import { api } from '../../../../session/session.js';
import { money, number, t } from '../../../../texts/texts.js';
import { Figure } from '../../../../ui/data/figure.js';
import { useAction } from '../../../../ui/load.js';
import { Choice, Heading, Problem } from '../../../../ui/parts.js';
import { officeLink, openAddress } from '../../../../ui/router.js';
import { DataList } from '../../../list/data-list.js';
import { PAGE_SIZE, useList } from '../../../list/listed.js';
import { ConfirmDialog } from '../../../ui/dialogs.js';
import { toast } from '../../../ui/toasts.js';
import { runColumns } from './columns.js';
import { DraftAllDialog } from './draft-all.js';
import { daysOf, monthChoices, monthName, monthOfAddress } from './months.js';
import { RunProgress } from './progress.js';
import { SendAllDialog } from './send-all.js';
import {
  canDraft,
  canPublish,
  currentRun,
  hasUnsent,
  isActive,
  scopeOf,
  scopeOfAll,
  startRun,
  type RunAction,
  type Scope,
} from './steps.js';

const NOTHING = {
  draft: 'run.nothingToDraft',
  publish: 'run.nothingToPublish',
  send: 'run.nothingToSend',
} as const;

/** The month of all couriers: what is not billed, drafts, published bills, their mails, and the steps between them. */
export function RunPage() {
  const month = monthOfAddress();
  const [totals, setTotals] = useState<BillingRunTotals>();
  const [asking, setAsking] = useState<{ action: RunAction; scope: Scope }>();
  const list = useList('bills', async ({ page }, signal) => {
    const { data, meta } = await api().billing.listRun({ month, page, limit: PAGE_SIZE }, { signal });
    setTotals(meta.totals);
    return { rows: data, total: meta.total_records };
  });
  const run = currentRun();
  const isBusy = isActive(run);
  useReloadAfter(isBusy, list.loaded.reload);

  const ask = (action: RunAction, scope: Scope) => {
    if (scope.couriers === 0) toast(t(NOTHING[action]));
    else setAsking({ action, scope });
  };
  const count = useAction(async (action: RunAction) => ask(action, await scopeOfAll(action, month)));
  const close = () => setAsking(undefined);
  const { change, state } = list.address;
  return (
    <>
      <p>
        <a href={officeLink('bills')}>{t('bills.title')}</a>
      </p>
      <Heading title={t('run.title')}>
        <button
          type="button"
          class="primary"
          disabled={isBusy || count.isBusy}
          onClick={() => count.run('draft')}
        >
          {t('run.draftAll')}
        </button>
        <button type="button" disabled={isBusy || count.isBusy} onClick={() => count.run('publish')}>
          {t('run.publishAll')}
        </button>
        <button type="button" disabled={isBusy || count.isBusy} onClick={() => count.run('send')}>
          {t('run.sendAll')}
        </button>
      </Heading>
      <p class="lead">{t('run.lead')}</p>
      <Problem text={count.error} />
      <div class="list-tools">
        <Choice
          label={t('run.month')}
          value={month}
          onValue={(chosen) => change({ filters: { ...state.filters, month: chosen } })}
          options={monthChoices(month)}
        />
      </div>
      {run && <RunProgress run={run} />}
      {totals && <Totals of={totals} month={month} />}
      <DataList
        page="bills/run"
        title={t('run.title')}
        of={list}
        columns={runColumns(month)}
        keyOf={({ courier_id }) => courier_id}
        nameOf={({ courier_name }) => courier_name}
        onOpen={({ courier_id }) =>
          openAddress(officeLink(['bills', 'month'], { of: courier_id, ...daysOf(month) }))
        }
        bulk={[
          {
            label: t('run.draftChosen'),
            suits: (row) => !isBusy && canDraft(row),
            run: (rows) => ask('draft', scopeOf('draft', rows, true)),
          },
          {
            label: t('run.publishChosen'),
            suits: (row) => !isBusy && canPublish(row),
            run: (rows) => ask('publish', scopeOf('publish', rows, true)),
          },
          {
            label: t('run.sendChosen'),
            suits: (row) => !isBusy && hasUnsent(row),
            run: (rows) => ask('send', scopeOf('send', rows, true)),
          },
        ]}
        empty={{ title: t('couriers.none'), hint: t('run.noneHint') }}
      />
      {asking?.action === 'draft' && <DraftAllDialog month={month} scope={asking.scope} onClose={close} />}
      {asking?.action === 'publish' && (
        <PublishAllDialog month={month} scope={asking.scope} onClose={close} />
      )}
      {asking?.action === 'send' && <SendAllDialog month={month} scope={asking.scope} onClose={close} />}
    </>
  );
}

/** Loads the list again when the run that was seen has ended. */
function useReloadAfter(isBusy: boolean, reload: () => void): void {
  const wasBusy = useRef(isBusy);
  useEffect(() => {
    if (wasBusy.current && !isBusy) reload();
    wasBusy.current = isBusy;
  }, [isBusy]);
}

type DialogProps = { month: string; scope: Scope; onClose: () => void };

function PublishAllDialog({ month, scope, onClose }: DialogProps) {
  const { ids, couriers, expected, bills, amount, warned } = scope;
  const effect = t('run.publishEffect', { couriers, bills, amount: money(amount), month: monthName(month) });
  return (
    <ConfirmDialog
      title={t('run.publishTitle', { month: monthName(month) })}
      effect={warned > 0 ? `${effect} ${t('run.warned', { count: warned })}` : effect}
      action={t('run.publishAction', { count: bills })}
      onClose={onClose}
      run={async () => startRun({ action: 'publish', month, ...(ids ? { courier_ids: ids } : {}) }, expected)}
    />
  );
}

type TotalsProps = { of: BillingRunTotals; month: string };

/** The sums over all couriers. */
function Totals({ of: { drafts, published, packages_without_owner: ownerless }, month }: TotalsProps) {
  const days = daysOf(month);
  return (
    <dl class="figures run-totals">
      <Figure title={t('run.drafts')} note={t('run.bills', { count: drafts.bills })}>
        <a href={officeLink('bills', { status: 'draft', ...days })}>{money(drafts.amount)}</a>
      </Figure>
      <Figure title={t('run.published')} note={t('run.bills', { count: published.bills })}>
        <a href={officeLink('bills', days)}>{money(published.amount)}</a>
      </Figure>
      <Figure title={t('run.ownerless')} note={t('run.ownerlessHint')}>
        <a href={officeLink('parcels', { owner: 'none', ...days })}>{number(ownerless)}</a>
      </Figure>
    </dl>
  );
}
