import { useState } from 'preact/hooks';
import type { CourierEventType, CourierSettings } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { addTexts, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Dialog, Problem } from '../ui/parts.js';
import { eventsTexts } from './events-texts.js';

addTexts(eventsTexts);

/** In the order of the page. A type that is missing here would be lost when a courier saves. */
const GROUP_OF = {
  'package.created': 'packages',
  'package.status_changed': 'packages',
  'package.updated': 'packages',
  'prealert.received': 'prealerts',
  'prealert.flagged': 'prealerts',
  'prealert.claimed': 'prealerts',
  'prealert.reopened': 'prealerts',
  'prealert.missing': 'prealerts',
  'bill.published': 'bills',
  'bill.paid': 'bills',
  'bill.reopened': 'bills',
  'bill.overdue': 'bills',
  'manifest.departed': 'manifests',
  'manifest.arrived': 'manifests',
} as const satisfies Record<CourierEventType, string>;
// Object.keys() returns the keys of this literal.
const TYPES = Object.keys(GROUP_OF) as CourierEventType[];
const ALL_GROUPS = ['packages', 'prealerts', 'bills', 'manifests'] as const;
const FLAT_GROUPS = ['packages'] as const;

type Props = {
  /** Undefined for the user's own courier. */
  courierId?: string | undefined;
  endpoint: 'add_package' | 'update_package';
  settings: CourierSettings;
  onClose: () => void;
  onDone: () => void;
};

/** Chooses the events that an address gets. */
export function EventsDialog({ courierId, endpoint, settings, onClose, onDone }: Props) {
  const isFlat = settings[`${endpoint}_format`] !== 'event';
  const [chosen, setChosen] = useState<readonly string[]>(settings[`${endpoint}_events`]);
  const save = useAction(async () => {
    const events = TYPES.filter((type) => chosen.includes(type));
    await api().couriers.updateSettings({
      ...(courierId === undefined ? {} : { id: courierId }),
      [`${endpoint}_events`]: events,
    });
    onDone();
  });
  const choose = (type: CourierEventType, isChosen: boolean) =>
    setChosen((last) => [...last.filter((each) => each !== type), ...(isChosen ? [type] : [])]);
  return (
    <Dialog title={t('events.title', { endpoint: t(`endpoint.${endpoint}`) })} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.run();
        }}
      >
        <p class="muted">{t(isFlat ? 'events.flat' : 'events.lead')}</p>
        {(isFlat ? FLAT_GROUPS : ALL_GROUPS).map((group) => (
          <fieldset key={group} class="stack">
            <legend>{t(`events.${group}`)}</legend>
            {TYPES.filter((type) => GROUP_OF[type] === group).map((type) => (
              <label key={type} class="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(type)}
                  onChange={({ currentTarget: { checked } }) => choose(type, checked)}
                />
                <span>
                  {t(`events.${type}`)} <span class="mono muted">{type}</span>
                </span>
              </label>
            ))}
          </fieldset>
        ))}
        <Problem text={save.error} />
        <div class="actions">
          <button type="submit" class="primary" disabled={save.isBusy}>
            {t('webhooks.save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
