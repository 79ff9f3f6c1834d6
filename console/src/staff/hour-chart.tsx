import { number, t } from '../texts/texts.js';

const WIDTH = 720;
const HEIGHT = 200;
const TOP = 24;
const BOTTOM = 24;
const STEP = WIDTH / 24;
const GAP = 4;

/** Packages per hour as bars. A screen reader reads the table instead. */
export function HourChart({ hours }: { hours: number[] }) {
  const most = Math.max(1, ...hours);
  const heightOf = (count: number) => (count / most) * (HEIGHT - TOP - BOTTOM);
  return (
    <>
      <div class="chart" tabIndex={0} role="group" aria-label={t('today.hours')}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
          {hours.map((count, hour) => {
            const x = hour * STEP;
            const y = HEIGHT - BOTTOM - heightOf(count);
            return (
              <g key={hour}>
                <rect
                  class="chart-bar"
                  x={x + GAP / 2}
                  y={y}
                  width={STEP - GAP}
                  height={heightOf(count)}
                  rx="2"
                />
                {count > 0 && (
                  <text class="chart-value" x={x + STEP / 2} y={y - 6}>
                    {number(count)}
                  </text>
                )}
                {hour % 3 === 0 && (
                  <text class="chart-hour" x={x + STEP / 2} y={HEIGHT - 6}>
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
        <caption>{t('today.hours')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('today.hour')}</th>
            <th scope="col">{t('common.packages')}</th>
          </tr>
        </thead>
        <tbody>
          {hours.map((count, hour) => (
            <tr key={hour}>
              <th scope="row">{hourText(hour)}</th>
              <td>{number(count)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
