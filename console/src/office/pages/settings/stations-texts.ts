/** The texts of the stations. They load with their tab. */
const stationsEn = {
  'stations.hint':
    'A station has the name that its device was given: at the station, click on the person’s name. A printer is connected while its print bridge asks for labels.',
  'stations.lastScan': 'Latest scan',
  'stations.by': 'By',
  'stations.printer': 'Printer',
  'stations.connected': 'Connected',
  'stations.gone': 'Not connected any more',
  'stations.noPrinter': 'None',
  'stations.waiting': 'Labels that wait',
  'stations.failed': 'Not printed',
  'stations.none': 'No station yet',
  'stations.noneHint': 'A station appears with its first scan, or when its printer is connected.',
  'stations.labels': 'Latest labels',
  'stations.noLabels': 'No label went to the printer of this station in the last 7 days.',
  'stations.printAgain': 'Print again',
  'labelStatus.waiting': 'Waits',
  'labelStatus.claimed': 'At the printer',
  'labelStatus.sending': 'At the printer',
  'labelStatus.printed': 'Printed',
  'labelStatus.failed': 'Failed',
  'labelStatus.unconfirmed': 'Perhaps printed',
  'labelStatus.expired': 'Waited too long',
} as const;

export type StationsKey = keyof typeof stationsEn;

const stationsEs: Record<StationsKey, string> = {
  'stations.hint':
    'Una estación tiene el nombre que se dio a su dispositivo: en la estación, haga clic en el nombre de la persona. Una impresora está conectada mientras su puente de impresión pide etiquetas.',
  'stations.lastScan': 'Último escaneo',
  'stations.by': 'Por',
  'stations.printer': 'Impresora',
  'stations.connected': 'Conectada',
  'stations.gone': 'Ya no está conectada',
  'stations.noPrinter': 'Ninguna',
  'stations.waiting': 'Etiquetas en espera',
  'stations.failed': 'Sin imprimir',
  'stations.none': 'Todavía no hay estaciones',
  'stations.noneHint': 'Una estación aparece con su primer escaneo, o cuando su impresora se conecta.',
  'stations.labels': 'Últimas etiquetas',
  'stations.noLabels': 'Ninguna etiqueta fue a la impresora de esta estación en los últimos 7 días.',
  'stations.printAgain': 'Imprimir otra vez',
  'labelStatus.waiting': 'En espera',
  'labelStatus.claimed': 'En la impresora',
  'labelStatus.sending': 'En la impresora',
  'labelStatus.printed': 'Impresa',
  'labelStatus.failed': 'Falló',
  'labelStatus.unconfirmed': 'Quizás impresa',
  'labelStatus.expired': 'Esperó demasiado',
};

export const stationsTexts = { en: stationsEn, es: stationsEs };
