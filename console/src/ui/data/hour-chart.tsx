import { number, t } from '../../texts/texts.js';

const WIDTH = 720;
const HEIGHT = 200;
const TOP = 24;
const BOTTOM = 24;
const STEP = WIDTH / 24;
const GAP = 4;

type Series = { title: string; hours: number[] };

type Props = Series & {
  caption: string;
  /** Counts to compare with, whose bars are on the left of each hour. */
  before?: Series;
};

/** Packages per hour as bars. A screen reader reads the table instead. */
export function HourChart({ caption, title, hours, before }: Props) {
  const most = Math.max(1, ...hours, ...(before?.hours ?? []));
  const heightOf = (count: number) => (count / most) * (HEIGHT - TOP - BOTTOM);
  const width = (STEP - GAP) / (before ? 2 : 1);
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
      {before && (
        <p class="legend" aria-hidden="true">
          <span class="legend-before" /> {before.title} <span class="legend-today" /> {title}
        </p>
      )}
      <div class="chart" tabIndex={0} role="group" aria-label={caption}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
          {hours.map((count, hour) => {
            const x = hour * STEP + GAP / 2 + (before ? width : 0);
            return (
              <g key={hour}>
                {before && bar('chart-before', before.hours[hour] ?? 0, x - width)}
                {bar('chart-bar', count, x)}
                {count > 0 && (
                  <text class="chart-value" x={x + width / 2} y={HEIGHT - BOTTOM - heightOf(count) - 6}>
                    {number(count)}
                  </text>
                )}
                {hour % 3 === 0 && (
                  <text class="chart-hour" x={hour * STEP + STEP / 2} y={HEIGHT - 6}>
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
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t('today.hour')}</th>
            <th scope="col">{title}</th>
            {before && <th scope="col">{before.title}</th>}
          </tr>
        </thead>
        <tbody>
          {hours.map((count, hour) => (
            <tr key={hour}>
              <th scope="row">{hourText(hour)}</th>
              <td>{number(count)}</td>
              {before && <td>{number(before.hours[hour] ?? 0)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

const hourText = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
