import { number, t } from '../../../texts/texts.js';

const WIDTH = 720;
const HEIGHT = 170;
const TOP = 20;
const BOTTOM = 22;
const STEP = WIDTH / 24;
const GAP = 3;

type Props = { hours: number[]; before: number[] };

const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;

/** Parcels per hour of today, beside those of the same day of last week. A screen reader reads the table instead. */
export function HourBars({ hours, before }: Props) {
  const most = Math.max(1, ...hours, ...before);
  const heightOf = (count: number) => (count / most) * (HEIGHT - TOP - BOTTOM);
  const width = (STEP - GAP) / 2;
  const bar = (className: string, count: number, x: number) => (
    <rect
      class={className}
      x={x}
      y={HEIGHT - BOTTOM - heightOf(count)}
      width={width}
      height={heightOf(count)}
      rx="2"
    />
  );
  return (
    <>
      <p class="legend" aria-hidden="true">
        <span class="legend-before" /> {t('home.sameDay')} <span class="legend-today" /> {t('today.title')}
      </p>
      <div class="chart" tabIndex={0} role="group" aria-label={t('home.hours')}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
          {hours.map((count, hour) => {
            const x = hour * STEP + GAP / 2;
            return (
              <g key={hour}>
                {bar('chart-before', before[hour] ?? 0, x)}
                {bar('chart-bar', count, x + width)}
                {count > 0 && (
                  <text class="chart-value" x={x + width * 1.5} y={HEIGHT - BOTTOM - heightOf(count) - 5}>
                    {number(count)}
                  </text>
                )}
                {hour % 3 === 0 && (
                  <text class="chart-hour" x={x + width} y={HEIGHT - 6}>
                    {hourText(hour)}
                  </text>
                )}
              </g>
            );
          })}
          <line class="chart-line" x1="0" x2={WIDTH} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
        </svg>
      </div>
      <table class="unseen">
        <caption>{t('home.hours')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('today.hour')}</th>
            <th scope="col">{t('today.title')}</th>
            <th scope="col">{t('home.sameDay')}</th>
          </tr>
        </thead>
        <tbody>
          {hours.map((count, hour) => (
            <tr key={hour}>
              <th scope="row">{hourText(hour)}</th>
              <td>{number(count)}</td>
              <td>{number(before[hour] ?? 0)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
