/** The texts of the office list of manifests. They load with it. */
const officeManifestsEn = {
  'officeManifests.search': 'Number, air waybill or flight',
  'officeManifests.from': 'Flights from',
  'officeManifests.to': 'Flights until',
  'officeManifests.open': 'Open the manifest',
  'officeManifests.couriers': 'Totals per courier',
  'officeManifests.noCourier': 'Unknown courier',
  'officeManifests.unknownHint': 'It may have been deleted. Search the list.',
} as const;

export type OfficeManifestsKey = keyof typeof officeManifestsEn;

const officeManifestsEs: Record<OfficeManifestsKey, string> = {
  'officeManifests.search': 'Número, guía aérea o vuelo',
  'officeManifests.from': 'Vuelos desde',
  'officeManifests.to': 'Vuelos hasta',
  'officeManifests.open': 'Abrir el manifiesto',
  'officeManifests.couriers': 'Totales por courier',
  'officeManifests.noCourier': 'Courier desconocido',
  'officeManifests.unknownHint': 'Puede que se haya eliminado. Busque en la lista.',
};

export const officeManifestsTexts = { en: officeManifestsEn, es: officeManifestsEs };
