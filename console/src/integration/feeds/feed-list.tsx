import { useState } from 'preact/hooks';
import type { CreateFeedAction, Feed } from '../../../../sdk/typescript/src/index.js';
import { RowActions, SecretEnding } from '../../courier/ui/secret-rows.js';
import { single } from '../../device/single.js';
import { api } from '../../session/session.js';
import { addFailures } from '../../texts/failures.js';
import { addTextsOnUse, dateTime, t, textOf } from '../../texts/texts.js';
import { useAction, useLoad } from '../../ui/load.js';
import { Choice, Content, Dialog, Empty, Field, Problem, Table } from '../../ui/parts.js';
import { Refusals } from './refusals.js';
import { feedsEn } from './texts-en.js';

/** Loads the texts of feeds. Called before they are shown. */
export const loadFeedsTexts = (): Promise<void> =>
  addTextsOnUse(feedsEn, async () => {
    const { feedFailuresEs, feedsEs } = await import('./texts-es.js');
    addFailures(feedFailuresEs);
    return feedsEs;
  });

/** A courier has at most 20. */
const SHOWN = 50;
const KINDS = ['easypost', 'shippo', 'shopify', 'woocommerce'] as const satisfies CreateFeedAction['kind'][];
const SHOPS = new Set<string>(['shopify', 'woocommerce']);
const ENDINGS = ['rotate', 'delete'] as const;
const ACTIONS_OF_SHOP = ['update', ...ENDINGS] as const;

type Action = (typeof ACTIONS_OF_SHOP)[number];

type Opened = { dialog: 'create' } | { dialog: Action; feed: Feed };
/** What to enter at the sender. */
type Made = { feed: Feed; secret: string };

/**
 * The feeds of a courier: where services for tracking send what carriers say, and shops send orders. A secret is shown once, when it is made.
 *
 * @param props the courier, for staff
 */
export function FeedList({ courierId }: { courierId?: string | undefined }) {
  const ofCourier = courierId ? { courier_id: courierId } : {};
  const feeds = useLoad(
    async (signal) => (await api().feeds.list({ limit: SHOWN, ...ofCourier }, { signal })).data,
    [courierId],
  );
  const [opened, setOpened] = useState<Opened>();
  const [made, setMade] = useState<Made>();
  const close = () => setOpened(undefined);
  const onDone = (done: Made | undefined) => {
    close();
    setMade(done);
    feeds.reload();
  };
  return (
    <>
      <p class="muted">{t('feeds.hint')}</p>
      <div class="actions">
        <button type="button" class="primary" onClick={single(() => setOpened({ dialog: 'create' }))}>
          {t('feeds.new')}
        </button>
      </div>
      <Content of={feeds}>
        {(data) =>
          data.length === 0 ? (
            <Empty title={t('feeds.none')}>{t('feeds.noneHint')}</Empty>
          ) : (
            <>
              <FeedTable rows={data} onOpen={setOpened} />
              {data.some(({ kind }) => SHOPS.has(kind)) && <Refusals courierId={courierId} />}
            </>
          )
        }
      </Content>
      {opened?.dialog === 'create' && <CreateDialog courierId={courierId} onClose={close} onDone={onDone} />}
      {opened?.dialog === 'update' && <CustomerDialog feed={opened.feed} onClose={close} onDone={onDone} />}
      {opened && opened.dialog !== 'create' && opened.dialog !== 'update' && (
        <AskDialog dialog={opened.dialog} feed={opened.feed} onClose={close} onDone={onDone} />
      )}
      {made && <MadeDialog made={made} onClose={() => setMade(undefined)} />}
    </>
  );
}

type FeedTableProps = { rows: Feed[]; onOpen: (opened: Opened) => void };

const FeedTable = ({ rows, onOpen }: FeedTableProps) => (
  <Table
    caption={t('feeds.title')}
    rows={rows}
    keyOf={({ feed_id }) => feed_id}
    columns={[
      { title: t('tokens.name'), cell: ({ name }) => name },
      {
        title: t('feeds.kind'),
        cell: ({ kind, user_code }) => (
          <>
            {textOf('feedKind', kind)}
            {user_code && <p class="muted mono">{user_code}</p>}
          </>
        ),
      },
      {
        title: t('feeds.url'),
        isExtra: true,
        cell: ({ url }) => <span class="mono break address">{addressOf(url)}</span>,
      },
      {
        title: t('tokens.ending'),
        cell: SecretEnding,
      },
      {
        title: t('feeds.lastReceived'),
        cell: ({ last_received_at }) => (last_received_at ? dateTime(last_received_at) : t('tokens.never')),
      },
      {
        title: t('manifests.change'),
        cell: (feed) => (
          <RowActions
            actions={SHOPS.has(feed.kind) ? ACTIONS_OF_SHOP : ENDINGS}
            texts="feedAction"
            name={feed.name}
            onOpen={(dialog) => onOpen({ dialog, feed })}
          />
        ),
      },
    ]}
  />
);

const addressOf = (url: string): string => `${window.location.origin}${url}`;

type DialogProps = { onClose: () => void; onDone: (made: Made | undefined) => void };

function CreateDialog({ courierId, onClose, onDone }: DialogProps & { courierId: string | undefined }) {
  const [name, setName] = useState('');
  const [kind, setKind] = useState<string>(KINDS[0]);
  const [secret, setSecret] = useState('');
  const [userCode, setUserCode] = useState('');
  const create = useAction(async () => {
    const chosen = KINDS.find((each) => each === kind) ?? KINDS[0];
    const fields = {
      name: name.trim(),
      kind: chosen,
      ...(courierId ? { courier_id: courierId } : {}),
      ...(secret === '' ? {} : { secret }),
      ...(SHOPS.has(chosen) && userCode.trim() !== '' ? { user_code: userCode.trim() } : {}),
    };
    onDone(madeOf((await api().feeds.manage({ action: 'create', ...fields })).data));
  });
  return (
    <Dialog title={t('feeds.new')} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          create.run();
        }}
      >
        <Field
          label={t('tokens.name')}
          value={name}
          onValue={setName}
          hint={t('feeds.nameHint')}
          maxLength={100}
        />
        <Choice
          label={t('feeds.kind')}
          value={kind}
          onValue={setKind}
          options={KINDS.map((each) => [each, textOf('feedKind', each)])}
        />
        {SHOPS.has(kind) && <CustomerField value={userCode} onValue={setUserCode} />}
        <Field
          label={t('feeds.secret')}
          type="password"
          value={secret}
          onValue={setSecret}
          hint={t('feeds.secretHint')}
          maxLength={256}
          autocomplete="off"
        />
        <Problem text={create.error} />
        <div class="actions">
          <button type="submit" class="primary" disabled={create.isBusy || name.trim() === ''}>
            {t('tokens.create')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

const madeOf = ({ feed, secret }: { feed: Feed; secret: string | null }): Made | undefined =>
  secret === null ? undefined : { feed, secret };

const CustomerField = (props: { value: string; onValue: (value: string) => void }) => (
  <Field label={t('feeds.customer')} hint={t('feeds.customerHint')} maxLength={100} {...props} />
);

/** Changes the customer of a shop. */
function CustomerDialog({ feed, onClose, onDone }: DialogProps & { feed: Feed }) {
  const [userCode, setUserCode] = useState(feed.user_code ?? '');
  const save = useAction(async () => {
    const code = userCode.trim() === '' ? null : userCode.trim();
    await api().feeds.manage({ action: 'update', feed_id: feed.feed_id, user_code: code });
    onDone(undefined);
  });
  return (
    <Dialog title={feed.name} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          save.run();
        }}
      >
        <CustomerField value={userCode} onValue={setUserCode} />
        <Problem text={save.error} />
        <div class="actions">
          <button type="submit" class="primary" disabled={save.isBusy}>
            {t('feeds.save')}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type AskProps = DialogProps & { dialog: (typeof ENDINGS)[number]; feed: Feed };

/** Asks before the present secret ends: an hour after a rotation, or at once. */
function AskDialog({ dialog, feed, onClose, onDone }: AskProps) {
  const end = useAction(async () => {
    const { data } = await api().feeds.manage({ action: dialog, feed_id: feed.feed_id });
    onDone(madeOf(data));
  });
  return (
    <Dialog title={`${textOf('feedAction', dialog)}: ${feed.name}`} onClose={onClose}>
      <div class="stack">
        <p>{textOf('feedAsk', dialog)}</p>
        <Problem text={end.error} />
        <div class="actions">
          <button
            type="button"
            class={dialog === 'delete' ? 'danger' : 'primary'}
            disabled={end.isBusy}
            onClick={() => end.run()}
          >
            {textOf('feedAction', dialog)}
          </button>
          <button type="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** It closes by its button only: the secret is not shown again. */
const MadeDialog = ({ made: { feed, secret }, onClose }: { made: Made; onClose: () => void }) => (
  <Dialog title={feed.name}>
    <div class="stack">
      <p>{t('feeds.enter')}</p>
      <p class="mono break" data-testid="feed-url">
        {addressOf(feed.url)}
      </p>
      <p class="mono break" data-testid="feed-secret">
        {secret}
      </p>
      {feed.kind === 'shippo' && <p>{t('feeds.shippo')}</p>}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          {t('tokens.stored')}
        </button>
      </div>
    </div>
  </Dialog>
);
