import { useState } from 'preact/hooks';
import type { TrackingLink } from '../../../../sdk/typescript/src/index.js';
import { Form, useForm } from '../../office/ui/form.js';
import { toast } from '../../office/ui/toasts.js';
import { api } from '../../session/session.js';
import { addFailures } from '../../texts/failures.js';
import { addTexts, t } from '../../texts/texts.js';
import { useAction, useLoad } from '../../ui/load.js';
import { Content, Dialog, Field, Problem } from '../../ui/parts.js';
import { trackingFailuresEs, trackingTexts } from './texts.js';

addTexts(trackingTexts);
addFailures(trackingFailuresEs);

const ENDINGS = ['replace', 'end'] as const;
type Ending = (typeof ENDINGS)[number];

export type LinkProps = { packageId: string };

/** The link to the tracking page of a parcel, and what its customer owes. Only for parcels with a customer. */
export function LinkSection({ packageId: package_id }: LinkProps) {
  const loaded = useLoad(
    async (signal) => (await api().tracking.link({ package_id }, { signal })).data,
    [package_id],
  );
  return (
    <section class="stack" aria-label={t('tracking.link')}>
      <h3>{t('tracking.link')}</h3>
      <Content of={loaded}>
        {({ link }) => (
          <Link key={JSON.stringify(link)} packageId={package_id} link={link} onChanged={loaded.reload} />
        )}
      </Content>
    </section>
  );
}

type Props = LinkProps & { link: TrackingLink | null; onChanged: () => void };

function Link({ packageId: package_id, link, onChanged }: Props) {
  const [ending, setEnding] = useState<Ending>();
  const copy = useAction(async () => {
    const { data } = await api().tracking.manageLinks({ action: 'create', package_id });
    if (!data.link) return;
    await navigator.clipboard.writeText(new URL(data.link.path, location.origin).href);
    toast(t('tracking.copied'));
    if (!link) onChanged();
  });
  return (
    <>
      {!link && <p class="muted">{t('tracking.none')}</p>}
      {link && !link.is_public && <p class="muted">{t('tracking.off')}</p>}
      <div class="actions">
        <button type="button" class="primary" disabled={copy.isBusy} onClick={() => copy.run()}>
          {t('tracking.copy')}
        </button>
        {link &&
          ENDINGS.map((each) => (
            <button key={each} type="button" onClick={() => setEnding(each)}>
              {t(`tracking.${each}`)}
            </button>
          ))}
      </div>
      {link?.is_public && (
        <a href={link.path} target="_blank" rel="noreferrer">
          {t('tracking.open')}
        </a>
      )}
      <Problem text={copy.error} />
      <Amount packageId={package_id} link={link} onChanged={onChanged} />
      {ending && (
        <EndingDialog
          packageId={package_id}
          ending={ending}
          onClose={() => setEnding(undefined)}
          onDone={() => {
            setEnding(undefined);
            onChanged();
          }}
        />
      )}
    </>
  );
}

type EndingProps = LinkProps & { ending: Ending; onClose: () => void; onDone: () => void };

/** What cannot be undone is asked first. */
function EndingDialog({ packageId: package_id, ending, onClose, onDone }: EndingProps) {
  const run = useAction(async () => {
    await api().tracking.manageLinks({ action: ending, package_id });
    toast(t(ending === 'end' ? 'tracking.ended' : 'tracking.replaced'));
    onDone();
  });
  return (
    <Dialog title={t(`tracking.${ending}`)} onClose={onClose}>
      <div class="stack">
        <p>{t(`tracking.${ending}Effect`)}</p>
        <Problem text={run.error} />
        <div class="actions">
          <button type="button" class="danger" disabled={run.isBusy} onClick={() => run.run()}>
            {t(`tracking.${ending}`)}
          </button>
          <button type="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Amount({ packageId: package_id, link, onChanged }: Props) {
  const form = useForm({ amount_due: link?.amount_due?.toFixed(2) ?? '' }, async ({ amount_due: text }) => {
    const amount_due = text.trim() === '' ? null : Number(text.replace(',', '.'));
    await api().tracking.manageLinks({ action: 'set_amount_due', package_id, amount_due });
    toast(t('tracking.amountSet'));
    onChanged();
  });
  return (
    <Form of={form} submit={t('tracking.setAmount')}>
      <Field
        label={t('tracking.amount')}
        hint={t('tracking.amountHint')}
        value={form.values.amount_due}
        onValue={(amount) => form.set('amount_due', amount)}
        error={form.errorOf('amount_due')}
        inputMode="decimal"
        name="amount_due"
      />
    </Form>
  );
}
