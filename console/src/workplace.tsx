import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect } from 'preact/hooks';
import type { FunctionComponent } from 'preact';
import { endLoading } from './device/loading.js';
import { settings } from './device/settings.js';
import { play } from './device/sound.js';
import { hasOffice } from './office/pages.js';
import { inMenu, PAGES, pagesOf, type PageId, type PageInfo, type StaffPageId } from './pages.js';
import { listenForAnswers } from './queue/answers.js';
import { AttentionPanel, QueueIndicator, QueueNotices } from './queue/panel.js';
import { startSender } from './queue/sender.js';
import { listenForKeys } from './scanner/listen.js';
import { isWeightText } from './scanner/scale.js';
import { listenForPalette } from './office/palette/shortcut.js';
import type { Reading } from './scanner/scanner.js';
import { ExpiredDialog } from './session/login.js';
import { keepLockedScan } from './session/locked-scans.js';
import { isExpired, isLocked, type Session } from './session/session.js';
import { CorrectDialog } from './station/correct/correct-dialog.js';
import { correcting, endCorrection, startCorrection } from './station/correct/correcting.js';
import { isLockDue, lockOnKey, lockWhenIdle } from './station/idle-lock.js';
import { leave, LeaveDialog } from './station/leave.js';
import { ForgottenLabels } from './station/label-list.js';
import { keepLeftBehind } from './station/left-behind.js';
import { LockedNotice } from './station/locked-notice.js';
import { report } from './station/report.js';
import { saveInterrupted } from './station/receiving.js';
import { hasParcelInWork, work } from './station/work.js';
import { GUIDE } from './guide/sections.js';
import { FindPage } from './find/find.js';
import { scanToFind } from './find/query.js';
import { PutAwayPage } from './putaway/put-away.js';
import { FlaggedPage } from './staff/flagged.js';
import { LoadPage } from './staff/load.js';
import { ManifestsPage } from './staff/manifests.js';
import { ReceivePage } from './staff/receive.js';
import { TodayPage } from './staff/today.js';
import { t } from './texts/texts.js';
import { usePresentInSight } from './ui/bars/in-sight.js';
import { TimesLine } from './ui/data/times-line.js';
import { HelpDialog } from './ui/help.js';
import { GuideLink } from './guide/guide-link.js';
import { Icon } from './ui/icons.js';
import { fieldForKeys, keepFocus } from './ui/focus.js';
import { giveReading } from './ui/keys.js';
import { part } from './ui/part.js';
import { Empty } from './ui/parts.js';
import { clearOutcome } from './ui/outcome.js';
import { goTo, linkTo, route } from './ui/router.js';
import { refuseStrayScan, stray, StrayReading, takeStrayWeight } from './station/stray.js';
import { AccountMenu } from './ui/account-menu.js';

const VIEWS: Record<StaffPageId, FunctionComponent> = {
  receive: ReceivePage,
  putaway: PutAwayPage,
  load: LoadPage,
  find: FindPage,
  manifests: ManifestsPage,
  flagged: FlaggedPage,
  today: TodayPage,
};

// A station loads none of them.
const CourierPage = part(async () => (await import('./courier/views.js')).CourierPage, { isOnUse: true });

// Couriers have it. At a station, a scan opens Find.
const Palette = part(async () => (await import('./office/palette/palette.js')).Palette, { isOnUse: true });

// Once, because the answers are kept after a log-out.
listenForAnswers();

/** The menu and one page. */
export function Workplace({ session: current }: { session: Session }) {
  const pages = pagesOf(current.user.role);
  const menu = inMenu(pages);
  const { page: wanted, argument } = route.value;
  // A page of another role was left open by somebody else.
  const page = pages.find(({ id }) => id === wanted) ?? (isUnknown(wanted) ? undefined : pages[0]);
  const isHelpOpen = useSignal(false);
  const isPaletteOpen = useSignal(false);
  const isStaff = current.user.role !== 'courier';

  useEffect(() => (isStaff ? startSender(current) : undefined), []);
  useEffect(() => void saveInterrupted().catch(() => undefined), []);
  useEffect(() => (isStaff ? void keepLeftBehind().catch(() => undefined) : undefined), []);
  useEffect(keepFocus, []);
  // The next user does not find the correction of this one.
  useEffect(() => endCorrection, []);
  // Before the page is painted, so that no scan falls between.
  useLayoutEffect(
    () =>
      listen(menu, isStaff, {
        F1: () => (isHelpOpen.value = !isHelpOpen.value),
        F2: () => isStaff && startCorrection(),
        F9: () => isStaff && void lockStation(),
      }),
    [],
  );
  useEffect(() => (isStaff ? undefined : listenForPalette(() => (isPaletteOpen.value = true))), []);
  // After the scanner's, which must see the first key. Before the page is painted, so that a station left alone shows nothing first.
  useLayoutEffect(() => (isStaff ? lockWhenIdle() : undefined), []);
  const menuBar = usePresentInSight(page?.under ?? page?.id);
  // Before the effects of the page, which may show a result at once.
  useLayoutEffect(() => {
    clearOutcome();
    stray.value = undefined;
    // Each manifest too has words of its own.
    document.title = `${page ? t(page.title) : t('page.unknown')} · Crossdock`;
  }, [page?.id, argument, settings.value.language]);

  if (pages.length === 0)
    return (
      <main>
        <Empty isPage title={t('menu.noPages')} />
      </main>
    );
  return (
    <div class="workplace">
      <a class="skip" href="#content" onClick={skipToContent}>
        {t('menu.skip')}
      </a>
      <header class="bar">
        <a class="brand" href={linkTo(pages[0]?.id ?? '')}>
          Crossdock
        </a>
        <nav ref={menuBar} class="menu" aria-label={t('menu.pages')}>
          {menu.map(({ id, title }) => (
            <a
              key={id}
              href={linkTo(id)}
              aria-current={id === (page?.under ?? page?.id) ? 'page' : undefined}
            >
              <Icon name={id} />
              <span>{t(title)}</span>
            </a>
          ))}
        </nav>
        <div class="bar-end">
          {hasOffice(current.user.role) && (
            <a class="button to-office" href="/console">
              {t('menu.office')}
            </a>
          )}
          {isStaff ? (
            <QueueIndicator />
          ) : (
            <button type="button" class="search-button" onClick={() => (isPaletteOpen.value = true)}>
              <Icon name="find" />
              <span class="search-text">
                {t('palette.title')} <kbd>Ctrl K</kbd>
              </span>
            </button>
          )}
          {page && <GuideLink section={GUIDE[page.id]} />}
          <AccountMenu user={current.user} hasLockKey onHelp={() => (isHelpOpen.value = true)} />
        </div>
      </header>
      <section class="notices" aria-label={t('menu.notices')}>
        {isStaff && <QueueNotices />}
        {isStaff && <ForgottenLabels />}
        {isStaff && isLockDue.value && <p class="notice">{t('lock.due')}</p>}
        {isStaff && <LockedNotice onTake={(reading) => takeReading(reading, isStaff)} />}
        <StrayReading />
        {page?.id !== 'receive' && hasParcelInWork.value && <WaitingParcel />}
      </section>
      <main id="content" tabIndex={-1}>
        <Page id={page?.id} />
        <TimesLine />
      </main>
      {isStaff && <AttentionPanel page={page?.id} />}
      {correcting.value !== undefined && <CorrectDialog key={correcting.value} />}
      {isHelpOpen.value && (
        <HelpDialog pages={menu} isStaff={isStaff} onClose={() => (isHelpOpen.value = false)} />
      )}
      {isPaletteOpen.value && (
        <Palette role={current.user.role} onClose={() => (isPaletteOpen.value = false)} />
      )}
      {isExpired.value && <ExpiredDialog onLeave={leave} />}
      <LeaveDialog />
    </div>
  );
}

/** The address is the page's, so the link may not change it. */
function skipToContent(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

const isUnknown = (name: string) => name !== '' && !PAGES.some(({ id }) => id === name);

function Page({ id }: { id: PageId | undefined }) {
  if (!id)
    return (
      <Empty isPage title={t('page.unknown')}>
        <a href={linkTo('')}>{t('page.first')}</a>
      </Empty>
    );
  if (!isOfStaff(id)) return <CourierPage id={id} />;
  const View = VIEWS[id];
  return <View key={id} />;
}

const isOfStaff = (id: PageId): id is StaffPageId => id in VIEWS;

/** A parcel that waits for its weight while another page is open. */
const WaitingParcel = () => (
  <p class="notice" data-testid="waiting-parcel">
    {t('receive.waiting', { scan: work.value.parcel?.scan ?? '' })}{' '}
    <a href={linkTo('receive')}>{t('receive.back')}</a>
  </p>
);

/** Gives what a device sent to the page, or lets a scan open Find. */
function takeReading(reading: Reading, isStaff: boolean): void {
  if (giveReading(reading) || !isStaff || reading.kind === 'unclear') return;
  const text = reading.kind === 'scan' ? reading.scan.text : reading.text;
  if (isWeightText(text)) takeStrayWeight(text);
  else if (document.querySelector('dialog[open]')) refuseStrayScan();
  else if (reading.kind === 'scan') scanToFind(text);
}

/** The shortcuts need Alt or are function keys, so that neither a person nor a scanner presses them by accident (WCAG 2.1.4). */
function listen(pages: PageInfo[], isStaff: boolean, functionKeys: Record<string, () => void>): () => void {
  const onShortcut = (event: KeyboardEvent) => {
    const [, digit] = event.altKey ? (/^Digit([1-9])$/.exec(event.code) ?? []) : [];
    const page = pages[Number(digit) - 1];
    const run =
      functionKeys[event.key] ??
      (event.altKey && event.code === 'KeyS' ? focusSearch : page && (() => goTo(page.id)));
    if (!run) return;
    event.preventDefault();
    // The correction of the last parcel would open before the login.
    if (!isLocked.value) run();
  };
  window.addEventListener('keydown', onShortcut);
  endLoading(() => report('bad', t('word.scanAgain'), t('receive.early'), ''));
  const stop = listenForKeys(
    {
      onReading: (reading) => {
        stray.value = undefined;
        if (isLocked.value) play(keepLockedScan(reading) ? 'warn' : 'bad');
        else takeReading(reading, isStaff);
      },
      fieldForKeys,
    },
    () => settings.value,
  );
  return () => {
    window.removeEventListener('keydown', onShortcut);
    stop();
  };
}

async function lockStation(): Promise<void> {
  if (!(await lockOnKey())) report('bad', t('word.notLocked'), t('lock.offline'), '');
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('[data-search] input')?.select();
}
