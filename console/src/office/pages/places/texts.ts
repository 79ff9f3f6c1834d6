/** The texts of the list of places. They load with it. */
const placesEn = {
  'places.search': 'Name of the place',
  'places.place': 'Place',
  'places.warehouse': 'Warehouse',
  'places.oldest': 'Oldest received',
  'places.note': 'Packages: {packages} · {weight} · Without a place: {without}',
  'places.noteFound': 'Packages: {packages} · {weight}',
  'places.none': 'No package has a place yet',
  'places.noneHint': 'At the station, open Put away: scan the place, then its parcels.',
} as const;

export type PlacesKey = keyof typeof placesEn;

const placesEs: Record<PlacesKey, string> = {
  'places.search': 'Nombre del lugar',
  'places.place': 'Lugar',
  'places.warehouse': 'Almacén',
  'places.oldest': 'El más antiguo',
  'places.note': 'Paquetes: {packages} · {weight} · Sin lugar: {without}',
  'places.noteFound': 'Paquetes: {packages} · {weight}',
  'places.none': 'Ningún paquete tiene lugar todavía',
  'places.noneHint': 'En la estación, abra Ubicar: escanee el lugar y después sus paquetes.',
};

export const placesTexts = { en: placesEn, es: placesEs };
