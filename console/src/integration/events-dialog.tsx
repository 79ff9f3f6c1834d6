import { useState } from 'preact/hooks';
import type { CourierSettings } from '../../../sdk/typescript/src/index.js';
import { api } from '../session/session.js';
import { addTexts, t } from '../texts/texts.js';
import { useAction } from '../ui/load.js';
import { Dialog, Problem } from '../ui/parts.js';
import { eventsTexts } from './events-texts.js';

addTexts(eventsTexts);

const GROUPS = {
  packages: ['package.created', 'package.status_changed', 'package.updated'],
  prealerts: ['prealert.received', 'prealert.flagged', 'prealert.claimed', 'prealert.reopened'],
  bills: ['bill.published', 'bill.paid', 'bill.overdue'],
  manifests: ['manifest.departed', 'manifest.arrived'],
} as const;
const ALL_GROUPS = ['packages', 'prealerts', 'bills', 'manifests'] as const;
const FLAT_GROUPS = ['packages'] as const;
type EventType = (typeof GROUPS)[keyof typeof GROUPS][number];

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
    const types = Object.values(GROUPS).flat();
    const events: EventType[] = types.filter((type) => chosen.includes(type));
    await api().couriers.updateSettings({
      ...(courierId === undefined ? {} : { id: courierId }),
      [`${endpoint}_events`]: events,
    });
    onDone();
  });
  const choose = (type: EventType, isChosen: boolean) =>
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
            {GROUPS[group].map((type) => (
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
