import { effect, signal } from '@preact/signals';

export type Language = 'en' | 'es';
export type LabelMode = 'off' | 'pdf' | 'zpl';

/** What this device remembers. Nothing in it is secret. */
export type DeviceSettings = {
  language: Language;
  station: string;
  hasSound: boolean;
  labels: LabelMode;
  prefix: string;
  suffix: string;
};

const NAME = 'crossdock-device';

const DEFAULTS: DeviceSettings = {
  language: navigator.language.startsWith('es') ? 'es' : 'en',
  station: navigator.language.startsWith('es') ? 'Estación 1' : 'Station 1',
  hasSound: true,
  labels: 'pdf',
  prefix: '',
  suffix: '',
};

export const settings = signal<DeviceSettings>(read());

effect(() => {
  localStorage.setItem(NAME, JSON.stringify(settings.value));
});

export function change(changes: Partial<DeviceSettings>): void {
  settings.value = { ...settings.value, ...changes };
}

function read(): DeviceSettings {
  try {
    // This page wrote it. Missing fields have their defaults.
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(NAME) ?? '{}') as Partial<DeviceSettings>) };
  } catch {
    return DEFAULTS;
  }
}
