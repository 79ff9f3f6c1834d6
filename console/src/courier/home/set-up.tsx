import type { CourierSetUpStep } from '../../../../sdk/typescript/src/index.js';
import { t, textOf } from '../../texts/texts.js';
import { linkTo } from '../../ui/router.js';

/** The page that does each step. A later version of the service may add steps. */
const LINKS: Record<string, string> = {
  profile: linkTo('profile'),
  customers: linkTo('customers'),
  prealert: linkTo('announce'),
  webhook: linkTo('webhooks'),
  logo: linkTo('profile'),
  team: linkTo('team'),
};

type Props = { steps: CourierSetUpStep[]; onHide: () => void };

/** The steps of the set-up. Nothing is shown when all are done. */
export function SetUp({ steps, onHide }: Props) {
  const done = steps.filter(isDone);
  if (done.length === steps.length) return null;
  return (
    <section class="card stack" aria-label={t('setUp.title')} data-testid="set-up">
      <div class="heading">
        <h2>{t('setUp.title')}</h2>
        <div class="heading-actions">
          <span class="muted">{t('setUp.done', { done: done.length, count: steps.length })}</span>
          <button type="button" class="quiet" onClick={onHide}>
            {t('setUp.hide')}
          </button>
        </div>
      </div>
      <ol class="set-up">
        {steps.map((step) => (
          <Step key={step.step} of={step} />
        ))}
      </ol>
    </section>
  );
}

const isDone = ({ missing }: CourierSetUpStep): boolean => missing.length === 0;

function Step({ of }: { of: CourierSetUpStep }) {
  const { step, missing } = of;
  const title = textOf('setUpStep', step);
  const link = LINKS[step];
  return (
    <li class={isDone(of) ? 'set-up-done' : undefined}>
      <span aria-hidden="true">{isDone(of) ? '✓' : '○'}</span>
      <div>
        {isDone(of) || !link ? <span>{title}</span> : <a href={link}>{title}</a>}
        {isDone(of) ? (
          <span class="unseen"> {t('setUp.isDone')}</span>
        ) : (
          <span class="field-hint">{missing.map((each) => textOf('setUpMissing', each)).join(' ')}</span>
        )}
      </div>
    </li>
  );
}
