import { useState } from 'preact/hooks';
import { session } from '../../session/session.js';
import { date, dateTime, money, number, pounds, t } from '../../texts/texts.js';
import { Figure, Waiting } from '../../ui/data/figure.js';
import { useLoad } from '../../ui/load.js';
import { Content, Heading } from '../../ui/parts.js';
import { linkTo } from '../../ui/router.js';
import { readMonth, readReceived, readSteps, readWaiting, thisMonth, type Received } from './figures.js';
import { hideSteps, isHidden, showSteps } from './hidden.js';
import { SetUp } from './set-up.js';

/** What a courier sees first: what is left to set up, what needs it, and how many parcels came. Each part loads alone. */
export function HomePage() {
  const courierId = session.value?.user.courier_id ?? '';
  const [hasSteps, setHasSteps] = useState(!isHidden(courierId));
  const waiting = useLoad(readWaiting, []);
  const received = useLoad((signal) => readReceived(signal), []);
  const days = thisMonth();
  const month = useLoad((signal) => readMonth(courierId, days, signal), [courierId, days.to]);
  const steps = useLoad(async (signal) => (hasSteps ? readSteps(signal) : []), [hasSteps]);
  const reload = () => [waiting, received, month, steps].forEach((each) => each.reload());
  return (
    <div class="stack home">
      <Heading title={t('courierPage.home')}>
        {!hasSteps && (
          <button
            type="button"
            onClick={() => {
              showSteps(courierId);
              setHasSteps(true);
            }}
          >
            {t('setUp.show')}
          </button>
        )}
        <button type="button" onClick={reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      {hasSteps && (
        <Content of={steps}>
          {(data) => (
            <SetUp
              steps={data}
              onHide={() => {
                hideSteps(courierId);
                setHasSteps(false);
              }}
            />
          )}
        </Content>
      )}
      <section class="stack" aria-label={t('home.attention')}>
        <h2>{t('home.attention')}</h2>
        <Content of={waiting}>{(items) => <Waiting items={items} links={LINKS} />}</Content>
      </section>
      <section class="stack" aria-label={t('myHome.received')}>
        <h2>{t('myHome.received')}</h2>
        <Content of={received}>{(data) => <ReceivedFigures of={data} />}</Content>
      </section>
      <section class="stack" aria-label={t('courierPage.month')}>
        <h2>{t('courierPage.month')}</h2>
        <Content of={month}>
          {({ summary }) => (
            <dl class="figures">
              <Figure title={t('myMonth.total')} note={t('myHome.tax')}>
                <a href={linkTo('month')}>{money(summary.grand_total)}</a>
              </Figure>
              <Figure title={t('common.packages')}>
                <a href={linkTo('parcels', undefined, days)}>{number(summary.total_packages)}</a>
              </Figure>
            </dl>
          )}
        </Content>
      </section>
    </div>
  );
}

/** Where the records of each kind are. */
const LINKS: Record<string, string> = {
  unknown_packages: linkTo('unknown'),
  open_claims: linkTo('claims', undefined, { status: 'open' }),
  flagged_prealerts: linkTo('announce', undefined, { status: 'flagged' }),
  packages_on_hold: linkTo('parcels', undefined, { status: 'on_hold,customs_hold' }),
  old_packages: linkTo('parcels', undefined, { age: '30', sort: 'entry_date_time' }),
  failing_webhooks: linkTo('webhooks'),
  unpaid_bills: linkTo('bills', undefined, { status: 'published' }),
  missing_prealerts: linkTo('announce', undefined, { status: 'missing' }),
  overdue_bills: linkTo('bills', undefined, { overdue: 'true' }),
};

function ReceivedFigures({ of: { today, sameDay, from, days, before, inWarehouse } }: { of: Received }) {
  return (
    <>
      <dl class="figures">
        <Figure title={t('today.received')} note={t('home.wholeDay', { value: number(sameDay.count) })}>
          <a href={linkTo('parcels', undefined, { from: today.date, to: today.date })}>
            {number(today.count)}
          </a>
        </Figure>
        <Figure title={t('myHome.week')} note={t('myHome.weekBefore', { count: before.count })}>
          <a href={linkTo('parcels', undefined, { from, to: today.date })}>{number(days.count)}</a>
        </Figure>
        <Figure title={t('common.weight')} note={t('myHome.weightBefore', { value: pounds(before.weight) })}>
          {pounds(days.weight)}
        </Figure>
        <Figure
          title={t('home.inWarehouse')}
          note={inWarehouse.oldest ? t('home.oldest', { at: dateTime(inWarehouse.oldest) }) : undefined}
        >
          <a href={linkTo('parcels', undefined, { age: '0' })}>{number(inWarehouse.count)}</a>
        </Figure>
      </dl>
      <p class="muted">{t('myHome.days', { from: date(from), to: date(today.date) })}</p>
    </>
  );
}
