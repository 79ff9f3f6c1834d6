import { settings } from '../../device/settings.js';
import { session } from '../../session/session.js';
import { t } from '../../texts/texts.js';

/** Names the time zone of all times on the page. Bills have days of their own, which people of the warehouse floor do not see. */
export function TimesLine() {
  const { timeZone } = settings.value;
  const hasBills = session.value?.user.role !== 'warehouse' && timeZone !== 'UTC';
  return (
    <p class="times-line muted" data-testid="times">
      {t('times.zone', { zone: timeZone === 'UTC' ? timeZone : `${timeZone} (${offsetName(timeZone)})` })}
      {hasBills && ` ${t('times.bills')}`}
    </p>
  );
}

/** Returns the present distance of a time zone from UTC, for example `GMT-5`. */
function offsetName(timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' });
  return format.formatToParts().find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
