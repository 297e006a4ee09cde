"""A day of an operator by hand: events of its service status, its news, and which is about which."""

from datetime import datetime
from typing import NamedTuple

DAY = datetime(2026, 11, 10)  # noqa: DTZ001 - instants of hand-made lakes are UTC without a mark


class Disruption(NamedTuple):
    """An event: its start, and the first and last hour (local) whose answer lists it; 23 if it goes on."""

    since: str
    hours: tuple[int, int]
    lines: tuple[str, ...]
    message: str
    event: str = "DEV"
    category: str = "SG"


class Item(NamedTuple):
    """A news item: when it was published (UTC), its texts, and the events that it is about."""

    published: str
    title: str
    text: str
    about: tuple[str, ...] = ()


DISRUPTIONS = {
    "cantore": Disruption("07:00", (7, 12), ("18",), "Linea 18 deviata per lavori stradali in via Cantore."),
    "dinegro": Disruption(
        "14:00", (14, 18), ("18", "20"), "Linee 18 e 20 deviate in zona Dinegro per manifestazione."
    ),
    "europa": Disruption("06:30", (7, 9), ("35",), "Linea 35: ritardi per incidente in corso Europa.", "GEV"),
    "posalunga": Disruption(
        "09:00",
        (9, 23),
        ("17", "17/"),
        "Linee 17 e 17/ deviate per chiusura di via Posalunga, lavori alla rete idrica.",
    ),
    "bavari": Disruption(
        "08:00", (8, 23), ("607",), "Linea 607 limitata a Bavari per frana in via alla Chiesa."
    ),
    "canevari": Disruption("10:00", (10, 23), ("1",), "Fermata Canevari 3 sospesa per cantiere.", "FERS"),
    "levante": Disruption(
        "06:00",
        (6, 23),
        ("Ascensore Castelletto Levante",),
        "Ascensore Castelletto Levante fuori servizio per guasto tecnico.",
        "FERS",
        "ASC",
    ),
    "montegalletto": Disruption(
        "11:00",
        (11, 23),
        ("Ascensore Castello D'Albertis - Montegalletto",),
        "Ascensore Castello D'Albertis - Montegalletto fermo per revisione annuale.",
        "FERS",
        "ASC",
    ),
    "brin": Disruption(
        "16:00",
        (16, 20),
        ("METRO",),
        "Metropolitana: servizio sospeso tra Brin e Principe per problema tecnico.",
        "FERS",
        "MM",
    ),
    "allerta": Disruption(
        "05:00",
        (6, 23),
        (),
        "Allerta meteo arancione: possibili modifiche al servizio collinare dalle ore 12.",
        "GEV",
    ),
    "rossetti": Disruption(
        "11:30", (12, 19), ("9",), "Linea 9 deviata per mercato rionale in piazza Rossetti."
    ),
    "monticelli": Disruption(
        "30:00",
        (8, 23),
        ("31",),
        "Linea 31 deviata da mercoledì 11 novembre per asfaltatura di via Monticelli.",
    ),
    "pinetti": Disruption(
        "12:00",
        (12, 15),
        ("31",),
        "Linea 31: percorso modificato per veicolo in sosta irregolare in via Pinetti.",
    ),
    "righi": Disruption(
        "07:00",
        (7, 23),
        ("Funicolare Zecca-Righi",),
        "Funicolare Zecca-Righi: corse sospese per manutenzione straordinaria.",
        "GEV",
        "FUN",
    ),
    "mercatino": Disruption(
        "20:00",
        (20, 23),
        ("N1",),
        "Linea N1 deviata in via XX Settembre per allestimento mercatino.",
    ),
    "corteo_3": Disruption(
        "15:00",
        (15, 19),
        ("3",),
        "Linea 3 deviata per corteo studentesco da piazza De Ferrari a via Balbi.",
    ),
    "corteo_36": Disruption(
        "15:00",
        (15, 19),
        ("36",),
        "Linea 36 deviata per corteo studentesco da piazza De Ferrari a via Balbi.",
    ),
    "stadio": Disruption("17:30", (18, 23), ("44",), "Linea 44 deviata per partita allo stadio Ferraris."),
    "vettura": Disruption(
        "07:30",
        (8, 10),
        ("82",),
        "Linea 82: corse soppresse per indisponibilità di vettura.",
        "GEV",
    ),
    "rolando": Disruption("18:00", (18, 22), ("7",), "Linea 7 deviata per incendio in via Rolando."),
    "fillak": Disruption("06:00", (6, 7), ("7",), "Linea 7 deviata per perdita di gas in via Walter Fillak."),
}

ITEMS = (
    Item(
        "2026-11-10 06:20",
        "Sampierdarena, cantiere in via Cantore: cambia il 18",
        "Per consentire gli scavi i bus della linea 18 seguono un itinerario alternativo fino al termine "
        "dell'intervento.",
        ("cantore",),
    ),
    Item(
        "2026-11-10 18:30",
        "Lavori in via Cantore conclusi",
        "La linea 18 riprende il percorso ordinario.",
        ("cantore",),
    ),
    Item(
        "2026-11-10 12:30",
        "Corteo a Dinegro: modifiche alle linee 18 e 20",
        "Dalle 14 e fino a cessate esigenze i mezzi non transitano da piazza Dinegro.",
        ("dinegro",),
    ),
    Item(
        "2026-11-10 14:05",
        "Manifestazione: si fermano anche 18 e 20",
        "Chiusa al transito tutta la zona di Dinegro.",
        ("dinegro",),
    ),
    Item(
        "2026-11-10 17:30",
        "Si torna alla normalità",
        "Terminata la manifestazione in zona Dinegro: 18 e 20 di nuovo sul percorso regolare.",
        ("dinegro",),
    ),
    Item(
        "2026-11-10 06:05",
        "Corso Europa, traffico rallentato dopo un sinistro",
        "Possibili ritardi per i passeggeri della linea 35.",
        ("europa",),
    ),
    Item(
        "2026-11-10 07:15",
        "Ritardi nella mattinata",
        "Un incidente in corso Europa e la mancanza di una vettura rallentano il servizio: linee 35 e 82.",
        ("europa", "vettura"),
    ),
    Item(
        "2026-11-09 14:00",
        "Via Posalunga chiusa al traffico da martedì 10 novembre",
        "Per lavori sull'acquedotto le linee 17 e 17/ osservano il percorso di via Borgoratti.",
        ("posalunga",),
    ),
    Item(
        "2026-11-06 10:00",
        "Lavori idrici a Borgoratti",
        "La chiusura di via Posalunga comporta dal 10 al 20 novembre la deviazione di 17 e 17/.",
        ("posalunga",),
    ),
    Item(
        "2026-11-10 07:30",
        "Bavari: frana sulla carreggiata",
        "Il 607 termina la corsa a Bavari. Sul posto i tecnici del Comune.",
        ("bavari",),
    ),
    Item(
        "2026-11-10 11:50",
        "Frana a Bavari: attivata una navetta",
        "<p>Un bus navetta collega Bavari con San Desiderio, capolinea provvisorio del 607.</p>",
        ("bavari",),
    ),
    Item(
        "2026-11-10 09:10",
        "Fermata Canevari 3 temporaneamente non servita",
        "Linea 1: la fermata non è effettuata a causa del cantiere; utilizzare Canevari 2.",
        ("canevari",),
    ),
    Item(
        "2026-11-10 05:20",
        "Castelletto Levante, impianto fermo",
        "L'ascensore non è utilizzabile per un'avaria. Tecnici al lavoro.",
        ("levante",),
    ),
    Item(
        "2026-11-08 09:00",
        "Revisione annuale dell'ascensore Castello d'Albertis-Montegalletto",
        "Da martedì 10 novembre l'impianto resta chiuso per le verifiche di legge.",
        ("montegalletto",),
    ),
    Item(
        "2026-11-10 10:05",
        "Montegalletto non disponibile",
        "In corso la revisione dell'ascensore.",
        ("montegalletto",),
    ),
    Item(
        "2026-11-10 15:05",
        "Metro ferma tra Brin e Principe",
        "Per un guasto la circolazione dei treni è interrotta; attivati bus sostitutivi.",
        ("brin",),
    ),
    Item(
        "2026-11-10 15:30",
        "Bus sostitutivi al posto della metropolitana",
        "Navette tra Brin e Principe fino alla riparazione del guasto.",
        ("brin",),
    ),
    Item(
        "2026-11-09 16:00",
        "Allerta arancione: come cambia il servizio",
        "Da domani, martedì 10 novembre, possibili modifiche sulle linee collinari a causa del maltempo.",
        ("allerta",),
    ),
    Item(
        "2026-11-10 11:00",
        "Allerta meteo in vigore",
        "Codice arancione: il servizio collinare è rimodulato dalle 12.",
        ("allerta",),
    ),
    Item(
        "2026-11-10 10:20",
        "Piazza Rossetti, oggi il mercato rionale",
        "La 9 devia per via Rimassa.",
        ("rossetti",),
    ),
    Item(
        "2026-11-09 09:00",
        "Via Monticelli: asfaltatura",
        "Da mercoledì 11 novembre la linea 31 percorre corso Sardegna nei due sensi.",
        ("monticelli",),
    ),
    Item(
        "2026-11-10 11:20",
        "Auto in divieto di sosta in via Pinetti blocca il 31",
        "I mezzi sono istradati su altro percorso in attesa del carro attrezzi.",
        ("pinetti",),
    ),
    Item(
        "2026-11-09 11:00",
        "Zecca-Righi: stop per manutenzione",
        "La funicolare resta chiusa martedì 10 novembre; previsto un bus sostitutivo.",
        ("righi",),
    ),
    Item(
        "2026-11-07 09:00",
        "Mercatino in via XX Settembre",
        "Dalle ore 20 di martedì 10 novembre la linea N1 transita da via Fiume.",
        ("mercatino",),
    ),
    Item(
        "2026-11-10 13:40",
        "Corteo degli studenti in centro",
        "Da De Ferrari a via Balbi: modifiche per le linee 3 e 36 fino al termine della manifestazione.",
        ("corteo_3", "corteo_36"),
    ),
    Item(
        "2026-11-09 08:00",
        "Stadio Ferraris: servizio per la partita",
        "Martedì 10 novembre, dalle 17.30, la linea 44 è deviata in via Canevari.",
        ("stadio",),
    ),
    Item(
        "2026-11-10 06:40",
        "Corse non effettuate sulla 82",
        "Per indisponibilità di un mezzo alcune corse della linea 82 non saranno garantite.",
        ("vettura",),
    ),
    Item(
        "2026-11-10 17:10",
        "Incendio in via Rolando",
        "La linea 7 devia su corso Magellano, non servite le fermate intermedie.",
        ("rolando",),
    ),
    Item(
        "2026-11-10 05:15",
        "Fuga di gas in via Fillak",
        "Bus 7 su percorso alternativo; vigili del fuoco sul posto.",
        ("fillak",),
    ),
    Item(
        "2026-11-10 06:50",
        "Linea 7, ripresa regolare",
        "Risolta la perdita di gas a Certosa, i mezzi tornano in via Fillak.",
        ("fillak",),
    ),
    # about no event of the status
    Item(
        "2026-11-10 14:30",
        "Sciopero nazionale di venerdì 20 novembre",
        "Possibili cancellazioni di corse; fasce garantite dalle 5.30 alle 8.30.",
    ),
    Item(
        "2026-11-10 09:00",
        "Nuovi orari invernali per la linea 18",
        "Da lunedì 16 novembre entra in vigore il nuovo orario della linea 18.",
    ),
    Item("2026-11-10 10:00", "Abbonamenti", "Da oggi il rinnovo annuale si fa anche sul sito."),
    Item(
        "2026-11-10 08:00",
        "Biglietteria di via Cantore chiusa",
        "Lo sportello di via Cantore 18 resta chiuso per lavori di riqualificazione dei locali.",
    ),
    Item(
        "2026-11-10 11:00",
        "Linea 35, nuove vetture elettriche",
        "Da oggi sono in servizio in corso Europa dieci autobus elettrici della linea 35.",
    ),
    Item(
        "2026-11-10 12:00",
        "Oggetti smarriti",
        "A ottobre consegnati 44 ombrelli, 7 telefoni e 18 borse.",
    ),
    Item(
        "2026-11-10 09:30",
        "Linea 20, conclusa la nuova pensilina",
        "La fermata di piazza Dinegro della linea 20 è di nuovo accessibile a tutti.",
    ),
    Item(
        "2026-10-15 09:00",
        "Linea 18 deviata",
        "Lavori stradali in via Cantore dal 16 al 23 ottobre: linea 18 deviata.",
    ),
    Item(
        "2026-11-10 07:00",
        "Castelletto Ponente, presentato il progetto",
        "Il nuovo ascensore collegherà la stazione con la Spianata entro il 2028.",
    ),
    Item(
        "2026-11-10 15:00",
        "Metropolitana, avanza il prolungamento",
        "Il cantiere tra Brin e Canepari procede secondo il programma: completata la galleria.",
    ),
    Item(
        "2026-11-10 16:00",
        "Funicolare Sant'Anna, orario prolungato",
        "Da sabato 14 novembre ultima corsa a mezzanotte.",
    ),
    Item("2026-11-10 13:00", "Controlli a Principe", "Elevati 120 verbali in una mattina."),
    Item(
        "2026-11-10 10:40",
        "Linea 17, un questionario",
        "Quanto siete soddisfatti della linea 17? Rispondete entro il 30 novembre.",
    ),
    Item(
        "2026-11-10 19:00",
        "Movida, più corse notturne",
        "Venerdì 13 e sabato 14 novembre la linea N1 passa ogni venti minuti.",
    ),
    Item("2026-11-10 08:30", "Concorso", "Bando per 82 posti da conducente di linea."),
    Item(
        "2026-11-10 12:10",
        "Linea 9, cambia il percorso dal 1 dicembre",
        "Con il nuovo piano la linea 9 non transita più da piazza Rossetti.",
    ),
    Item(
        "2026-11-10 17:00",
        "Potature a Staglieno",
        "Martedì 24 novembre la linea 44 è deviata e la fermata Staglieno sospesa.",
    ),
    Item(
        "2026-11-10 19:10",
        "Luci di Natale in via XX Settembre",
        "L'accensione è prevista sabato 28 novembre.",
    ),
    Item(
        "2026-11-10 14:10",
        "Incontro con i residenti",
        "Giovedì 19 novembre a palazzo Balbi si parla della linea 3 e dei nuovi percorsi.",
    ),
    Item(
        "2026-11-10 06:30",
        "Linea 607, rinnovate le paline",
        "Completata la sostituzione degli orari alle fermate della Val Bisagno.",
    ),
)

# Another operator, with fewer texts; weights and words were not chosen with these in view.
OTHER_DISRUPTIONS = {
    "ponte": Disruption("08:30", (9, 23), ("5", "6"), "Linee 5 e 6: transito interdetto sul ponte Adda."),
    "guasto": Disruption(
        "10:00", (10, 12), ("5",), "Linea 5 rallentata, avaria di un mezzo in viale Trento.", "GEV"
    ),
    "albero": Disruption(
        "13:00", (13, 16), ("22",), "Linea 22 interrotta tra Molino e Capoluogo, albero sulla strada."
    ),
    "fiera": Disruption(
        "32:00",
        (9, 23),
        ("14",),
        "Dall'11 novembre la linea 14 non serve il Duomo: fiera di San Martino.",
    ),
    "scala": Disruption(
        "07:00", (7, 23), ("Ascensore Porta Nuova",), "Impianto Porta Nuova non disponibile.", "FERS", "ASC"
    ),
    "sciopero": Disruption(
        "15:00", (9, 19), (), "Sciopero aziendale dalle 15 alle 19: corse non garantite.", "GEV"
    ),
    "allagamento": Disruption("17:00", (17, 21), ("C3",), "Linea C3 deviata, sottopasso Fontana allagato."),
}

OTHER_ITEMS = (
    Item(
        "2026-11-10 07:50",
        "Ponte Adda chiuso ai mezzi pesanti",
        "Fino a nuova comunicazione i bus 5 e 6 passano dalla tangenziale.",
        ("ponte",),
    ),
    Item(
        "2026-11-10 09:10",
        "Viale Trento, autobus in panne",
        "Ci scusiamo per l'attesa sulla linea 5: il soccorso è in arrivo.",
        ("guasto",),
    ),
    Item(
        "2026-11-10 12:15",
        "Caduto un albero tra Molino e Capoluogo",
        "La linea 22 si ferma a Molino. Seguiranno aggiornamenti.",
        ("albero",),
    ),
    Item(
        "2026-11-10 14:40",
        "Strada riaperta",
        "Rimosso l'albero a Molino: la 22 è di nuovo completa.",
        ("albero",),
    ),
    Item(
        "2026-11-06 09:00",
        "Arriva la fiera di San Martino",
        "Da mercoledì 11 novembre le corse della linea 14 fermano in largo Garibaldi invece che in Duomo.",
        ("fiera",),
    ),
    Item(
        "2026-11-10 06:10",
        "Ascensore di Porta Nuova",
        "L'impianto non è disponibile, usare le scale di via Roma.",
        ("scala",),
    ),
    Item(
        "2026-11-05 10:00",
        "Sciopero aziendale di martedì 10 novembre",
        "Dalle 15 alle 19 le corse non sono garantite.",
        ("sciopero",),
    ),
    Item(
        "2026-11-10 14:05",
        "Adesione allo sciopero",
        "Sono a rischio le corse della sera: sciopero aziendale fino alle 19.",
        ("sciopero",),
    ),
    Item(
        "2026-11-10 16:10",
        "Pioggia intensa: sottopasso Fontana allagato",
        "La linea C3 percorre via Manzoni.",
        ("allagamento",),
    ),
    Item(
        "2026-11-10 09:40",
        "Disagi sulla 5",
        "Alle difficoltà per il ponte Adda si è aggiunta l'avaria di un mezzo in viale Trento.",
        ("ponte", "guasto"),
    ),
    Item("2026-11-10 08:00", "Linea 5, nuovi bus", "Entro dicembre arrivano 5 mezzi a idrogeno."),
    Item(
        "2026-11-10 10:00",
        "Sciopero generale del 27 novembre",
        "Possibili disagi per l'intera giornata di venerdì 27 novembre.",
    ),
    Item("2026-11-10 11:00", "Ascensore di Porta Vecchia", "Conclusa la posa della nuova cabina."),
    Item("2026-11-10 13:10", "Linea 22, due corse in più", "Dal 1 dicembre nelle ore di punta."),
    Item("2026-11-10 15:00", "Mostra sul ponte", "Foto storiche in sala Adda, ingresso libero."),
    Item("2026-11-10 16:00", "Linea 14: indagine", "Interviste a bordo per tutto il mese."),
    Item("2026-11-10 17:10", "C3, tessere in vendita", "Anche al chiosco di via Fontana."),
    Item("2026-11-09 17:00", "Duomo, nuova pensilina", "Inaugurata ieri la fermata di piazza Duomo."),
)

# A third operator, whose news name lines and hours but hardly repeat a word of the status.
TERSE_DISRUPTIONS = {
    "works": Disruption("08:00", (8, 20), ("41", "42"), "Linee 41 e 42: lavori stradali in via dei Mille."),
    "march": Disruption("15:00", (15, 19), ("61",), "Linea 61 deviata per manifestazione."),
    "crash": Disruption("15:10", (15, 17), ("62", "63", "64"), "Linee 62, 63 e 64: incidente.", "GEV"),
    "earlier": Disruption("06:00", (6, 9), ("61",), "Linea 61: incidente in galleria.", "GEV"),
}

TERSE_ITEMS = (
    Item("2026-11-10 07:20", "Cambia il tragitto dei bus 41 e 42", "Operai in carreggiata.", ("works",)),
    Item("2026-11-10 14:20", "Bus 61", "Un corteo blocca il centro.", ("march",)),
    Item("2026-11-10 14:30", "Attese per chi prende la linea 63", "Uno scontro in tangenziale.", ("crash",)),
    Item("2026-11-10 05:20", "Tamponamento in galleria", "Lunghe attese per la linea 61.", ("earlier",)),
    Item("2026-11-10 07:30", "Linee 41 e 42", "Da oggi il biglietto si acquista anche a bordo."),
    Item("2026-11-10 14:40", "Linea 61", "Il conducente dell'anno è di questa linea."),
)

DAYS = {
    "testville": (DISRUPTIONS, ITEMS),
    "elsewhere": (OTHER_DISRUPTIONS, OTHER_ITEMS),
    "tersely": (TERSE_DISRUPTIONS, TERSE_ITEMS),
}
