import { number, t } from '../../texts/texts.js';
import { BarChart } from './bar-chart.js';

type Series = { title: string; hours: number[] };

type Props = Series & {
  caption: string;
  /** Counts to compare with, whose bars are on the left of each hour. */
  before?: Series;
};

/** Packages per hour as bars. A screen reader reads the table instead. */
export function HourChart({ caption, title, hours, before }: Props) {
  return (
    <>
      <BarChart
        caption={caption}
        title={title}
        {...(before ? { beforeTitle: before.title } : {})}
        bars={hours.map((value, hour) => ({
          label: hourText(hour),
          value,
          ...(before ? { before: before.hours[hour] ?? 0 } : {}),
        }))}
      />
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
