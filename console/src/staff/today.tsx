import { settings } from '../device/settings.js';
import { api } from '../session/session.js';
import { number, pounds, t } from '../texts/texts.js';
import { useLoad } from '../ui/load.js';
import { Content, Empty, Heading, Table } from '../ui/parts.js';
import { linkTo } from '../ui/router.js';
import { localDay, localHour } from '../ui/data/days.js';
import { countDay, type Day } from './day.js';
import { HourChart } from '../ui/data/hour-chart.js';

/** The service returns at most so many packages in one response. A day with more is counted as far as they go. */
const LARGEST_PAGE = 10_000;

type Figures = { day: Day; isCut: boolean; pending: number; flagged: number };

/** Two requests: the packages of the day, which give all but the last two figures, and the counters of pre-alerts. */
async function readFigures(signal: AbortSignal): Promise<Figures> {
  const zone = settings.value.timeZone;
  const [packages, prealerts] = await Promise.all([
    api().packages.list(
      { entryDateFloor: localDay(Date.now(), zone), day_zone: 'tenant', limit: LARGEST_PAGE },
      { signal },
    ),
    api().prealerts.list({ limit: 1 }, { signal }),
  ]);
  return {
    day: countDay(packages.data, (ms) => localHour(ms, zone)),
    isCut: packages.meta.total_count > packages.data.length,
    pending: prealerts.meta.stats.pending,
    flagged: prealerts.meta.stats.flagged,
  };
}

export function TodayPage() {
  const figures = useLoad(readFigures, []);
  return (
    <>
      <Heading title={t('today.title')}>
        <button type="button" onClick={figures.reload}>
          {t('today.refresh')}
        </button>
      </Heading>
      <Content of={figures}>
        {({ day, isCut, pending, flagged }) => (
          <>
            {isCut && <p class="notice">{t('today.cut', { count: LARGEST_PAGE })}</p>}
            <dl class="figures">
              <Figure title={t('today.received')}>{number(day.received)}</Figure>
              <Figure title={t('common.weight')}>{pounds(day.weight)}</Figure>
              <Figure title={t('today.withoutOwner')}>{number(day.withoutOwner)}</Figure>
              <Figure title={t('today.expected')}>{number(pending)}</Figure>
              <Figure title={t('flagged.title')} isBad={flagged > 0}>
                <a href={linkTo('flagged')}>{number(flagged)}</a>
              </Figure>
            </dl>
            {day.received === 0 ? (
              <Empty title={t('today.none')}>
                <a href={linkTo('receive')}>{t('today.noneHint')}</a>
              </Empty>
            ) : (
              <>
                <section class="section card">
                  <h2>{t('today.hours')}</h2>
                  <HourChart caption={t('today.hours')} title={t('common.packages')} hours={day.hours} />
                </section>
                <section class="section">
                  <h2>{t('today.couriers')}</h2>
                  <Shares couriers={day.couriers} />
                </section>
              </>
            )}
          </>
        )}
      </Content>
    </>
  );
}

const Figure = ({
  title,
  isBad,
  children,
}: {
  title: string;
  isBad?: boolean;
  children: preact.ComponentChildren;
}) => (
  <div class={isBad ? 'figure figure-bad' : 'figure'}>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

const Shares = ({ couriers }: Pick<Day, 'couriers'>) => (
  <Table
    caption={t('today.couriers')}
    rows={couriers}
    keyOf={({ name }) => name ?? ''}
    columns={[
      { title: t('common.courier'), cell: ({ name }) => name ?? t('today.unknown') },
      { title: t('common.packages'), isNumber: true, cell: ({ count }) => number(count) },
      { title: t('today.share'), isNumber: true, cell: ({ share }) => number(share, { style: 'percent' }) },
      {
        title: t('today.bar'),
        isExtra: true,
        cell: ({ share }) => (
          <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect class="meter-track" width="100" height="4" />
            <rect class="meter-value" width={share * 100} height="4" />
          </svg>
        ),
      },
    ]}
  />
);
