import { useEffect, useState } from 'preact/hooks';
import type { ManifestDetail } from '../../../sdk/typescript/src/index.js';
import { api, session } from '../session/session.js';
import { number, pounds, t } from '../texts/texts.js';
import { useAction, useLoad, type Loaded } from '../ui/load.js';
import { Content, Dialog, Field, Problem } from '../ui/parts.js';
import { Doubtful } from './doubtful.js';

export type NextStep = 'ready' | 'shipped' | 'completed';

type Props = { detail: ManifestDetail; step: NextStep; onClose: () => void; onDone: () => void };

/** Names what a step of a manifest does, in numbers, before it is done. Only the step to ready can be taken back. */
export function StepDialog({ detail: opened, step, onClose, onDone }: Props) {
  const [detail, setDetail] = useState(opened);
  const { info, stats } = detail;
  const [reason, setReason] = useState('');
  const [isChanged, setIsChanged] = useState(false);
  const loading = useLoad(
    (signal) => (step === 'shipped' ? readLoading(info.manifest_id, signal) : Promise.resolve(undefined)),
    [],
  );
  const isArmed = useArmed();
  const isManager = session.value?.user.role !== 'warehouse';
  const move = useAction(async () => {
    // Others work on the flight meanwhile, and it does not come back: what is moved is what the person has read.
    const now = (await api().manifests.get({ id: info.manifest_id })).data;
    const nowLoaded = loading.data && (await readLoading(info.manifest_id));
    const isRead = seenOf(now, nowLoaded) === seenOf(detail, loading.data);
    setIsChanged(!isRead);
    if (!isRead) {
      setDetail(now);
      loading.reload();
      return;
    }
    const override = step === 'shipped' && reason.trim() ? { loading_override_reason: reason.trim() } : {};
    await api().manifests.manage({
      action: 'update_meta',
      manifest_id: info.manifest_id,
      status: step,
      ...override,
    });
    onDone();
  });
  const values = { count: stats.total_count, weight: pounds(stats.total_weight_lb) };
  return (
    <Dialog title={`${t(`manifests.to.${step}`)} · ${info.manifest_number}`} onClose={onClose}>
      <div class="stack">
        <p>{t(`manifests.ask.${step}`, values)}</p>
        {step !== 'completed' && <Doubtful manifestId={info.manifest_id} />}
        {step === 'shipped' && <Load of={loading} />}
        <Problem text={isChanged ? t('manifests.changed') : move.error} />
        {move.error && step === 'shipped' && isManager && (
          <Field
            label={t('manifests.override')}
            hint={t('manifests.overrideHint')}
            value={reason}
            maxLength={500}
            onValue={setReason}
          />
        )}
        <div class="actions">
          <button type="button" class="dialog-first" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button
            type="button"
            class="primary"
            disabled={!isArmed || move.isBusy || (step === 'shipped' && !loading.data)}
            onClick={() => move.run()}
          >
            {t(`manifests.to.${step}`)} ({number(stats.total_count)})
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** The second click of a double click must not confirm the dialog that the first one has opened. */
const DOUBLE_CLICK_MS = 500;

export function useArmed(): boolean {
  const [isArmed, setIsArmed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setIsArmed(true), DOUBLE_CLICK_MS);
    return () => clearTimeout(timer);
  }, []);
  return isArmed;
}

const NAMED = 10;

type Loading = Awaited<ReturnType<typeof readLoading>>;

async function readLoading(manifest_id: string, signal?: AbortSignal) {
  const options = { manifest_id, list: 'missing', limit: NAMED } as const;
  return (await api().manifests.loading(options, signal ? { signal } : {})).data;
}

const COUNTS = ['expected', 'loaded', 'missing', 'extra'] as const;

/** What a person has read before the confirmation, as far as it can change. */
const seenOf = ({ packages }: ManifestDetail, loading: Loading | undefined): string =>
  JSON.stringify([
    packages.map(({ package_id }) => package_id),
    loading && [
      COUNTS.map((name) => loading.counts[name]),
      loading.parcels.map((each) => each.tracking_number),
    ],
  ]);

/** What was scanned onto the flight, and what was not. */
function Load({ of: loading }: { of: Loaded<Loading | undefined> }) {
  return <Content of={loading}>{(found) => found && <Figures of={found} />}</Content>;
}

const Figures = ({ of: { counts, parcels } }: { of: Loading }) => (
  <>
    <dl class="figures">
      {COUNTS.map((name) => (
        <div
          key={name}
          class={
            name !== 'expected' && name !== 'loaded' && counts[name] > 0 ? 'figure figure-bad' : 'figure'
          }
        >
          <dt>{t(`load.${name}`)}</dt>
          <dd data-testid={`ask-${name}`}>{number(counts[name])}</dd>
        </div>
      ))}
    </dl>
    {counts.missing > 0 && (
      <p class="problem">
        {t('manifests.missing', { count: counts.missing })}{' '}
        <span class="mono">
          {parcels.map(({ house_number, tracking_number }) => house_number ?? tracking_number).join(', ')}
          {counts.missing > parcels.length && ', …'}
        </span>
      </p>
    )}
    {counts.extra > 0 && <p class="problem">{t('manifests.extra', { count: counts.extra })}</p>}
  </>
);
