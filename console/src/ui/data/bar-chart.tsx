import { number } from '../../texts/texts.js';

const WIDTH = 720;
const HEIGHT = 220;
const TOP = 24;
const BOTTOM = 24;
const GAP = 6;
/** Half of the width of a date, so that the first and the last one are not cut. */
const LABEL_HALF = 22;
/** More labels than this under the bars overlap, and more values over them. */
const MOST_LABELS = 12;
const MOST_VALUES = 31;

export type Bar = { label: string; value: number; before?: number };

type Props = {
  caption: string;
  /** What the bars are, and the bars on their left to compare with. */
  title: string;
  beforeTitle?: string;
  bars: Bar[];
};

/** Values as bars. The page shows the same figures as a table beside it, which a screen reader reads instead. */
export function BarChart({ caption, title, beforeTitle, bars }: Props) {
  const most = Math.max(1, ...bars.flatMap(({ value, before = 0 }) => [value, before]));
  const step = WIDTH / Math.max(1, bars.length);
  const width = Math.min(64, (step - GAP) / (beforeTitle ? 2 : 1));
  const everyLabel = Math.ceil(bars.length / MOST_LABELS);
  const everyValue = Math.ceil(bars.length / MOST_VALUES);
  const heightOf = (value: number) => (value / most) * (HEIGHT - TOP - BOTTOM);
  const bar = (className: string, value: number, x: number) => (
    <rect
      class={className}
      x={x}
      y={HEIGHT - BOTTOM - heightOf(value)}
      width={width}
      height={heightOf(value)}
      rx="2"
    />
  );
  return (
    <>
      {beforeTitle && (
        <p class="legend" aria-hidden="true">
          <span class="legend-before" /> {beforeTitle} <span class="legend-today" /> {title}
        </p>
      )}
      <div class="chart" tabIndex={0} role="group" aria-label={caption}>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
          {bars.map(({ label, value, before }, index) => {
            const middle = index * step + step / 2;
            const x = beforeTitle ? middle : middle - width / 2;
            return (
              <g key={`${index} ${label}`}>
                {beforeTitle && bar('chart-before', before ?? 0, middle - width)}
                {bar('chart-bar', value, x)}
                {value > 0 && index % everyValue === 0 && (
                  <text class="chart-value" x={x + width / 2} y={HEIGHT - BOTTOM - heightOf(value) - 6}>
                    {number(value)}
                  </text>
                )}
                {index % everyLabel === 0 && (
                  <text
                    class="chart-hour"
                    x={Math.min(Math.max(middle, LABEL_HALF), WIDTH - LABEL_HALF)}
                    y={HEIGHT - 6}
                  >
                    {label}
                  </text>
                )}
              </g>
            );
          })}
          <line class="chart-line" x1="0" x2={WIDTH} y1={HEIGHT - BOTTOM} y2={HEIGHT - BOTTOM} />
        </svg>
      </div>
    </>
  );
}
