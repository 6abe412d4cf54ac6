"""Which words of English and German say nothing by themselves, and which turn a sentence round.

The lists are closed classes of the two languages, not vocabulary of any corpus.
"""

from __future__ import annotations

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    # Words are compared case-folded, which makes "ss" of "ß".
    return frozenset(text.casefold().split())


# What a paraphrase may add, drop or change without saying anything else.
FUNCTION_WORDS = {
    "en": _words(
        "a an the this that these those there here it its itself he she his her they their them"
        " themselves i me my we us our you your yours yourself who whom whose which what"
        " is are was were be been being am do does did doing done has have had having"
        " of to and or at by on in into onto for from with as so than if when while where how"
        " then thus hence therefore because since though although but yet also too very quite"
        " such like e.g i.e etc via per about over through between among within during against"
        " upon under above below up down out off back again further own both either else"
        " can could will would shall let lets letting now just even still already well rather"
        " whether"
        " until till otherwise whenever wherever however moreover instead ve re ll s d m eg ie due"
        " finally eventually namely thereby really actually anymore due across along towards"
        " themself oneself ours mine hers theirs whatsoever unlike regardless"
    ),
    "de": _words(
        "der die das den dem des ein eine einen einem einer eines dieser diese dieses diesen"
        " diesem jener jene jenes jenen jenem derselbe dieselbe dasselbe dieselben denselben"
        " was welche welcher welches welchen welchem wer wen wem wie warum wo wann woher wohin"
        " ich mich mir mein meine meinen meinem meiner wir uns unser unsere du dich dir dein"
        " deine sie ihr ihre ihnen ihren ihrem ihrer er es man sich sein seine seinen seinem"
        " seiner seines dessen deren denen ist sind war waren wäre wären bin bist wird werden"
        " wurde wurden würde würden worden geworden gewesen kann können könnten konnte hat"
        " haben hatte hatten hätte und oder zu zum zur im in ins am an ans beim bei vom von mit"
        " für auf aus durch über unter zwischen gegen um als dass ob wenn falls weil da denn"
        " dann hier dort auch noch schon so doch mal aber sowie sowohl indem damit dafür dazu"
        " daran darauf davon darin dabei daher deshalb also wobei jedoch bzw usw z.b d.h sehr"
        " etwa eben ja selbst seinerseits wiederum während seit laut eigen eigene eigenen wohl"
        " wer nach vor sonst andernfalls bitte nun jetzt via pro je"
        " soweit sofern möchte möchten bis einander gegenseitig innerhalb außerhalb trotz wegen"
        " mithilfe anhand gemäß somit dadurch hierbei hierfür hierzu zwar nämlich sogar ob"
        " außerdem ansonsten obwohl sodass beziehungsweise beide beiden beides"
        " schließlich letztlich dazwischen"
        " ihn ihm euch euer eure euren eurem eurer eures unseren unserem unserer unseres deinen"
        " deinem deiner derer dies jener jenes welchem solche solchen solchem solcher solches"
        " habe hast habt warst wart werde wirst werdet könne kannst darf dürfen durfte dürfte"
        " musste mussten mochte mochten daß etwas einmal sondern hin hinter neben nebst samt dank"
        " mittels bezüglich hinsichtlich aufgrund infolge zufolge zugunsten entlang zusätzlich"
        " bereits ebenfalls ebenso gleichfalls zudem überdies nunmehr wirklich tatsächlich"
        " eigentlich natürlich insbesondere zunächst zuerst ziemlich recht äußerst besonders"
        " worauf woraus wodurch womit wofür worin wovon wozu woran wonach hiermit hierdurch"
        " hieran hierin hiervon daraus deswegen demnach folglich infolgedessen"
    ),
}
# Verbs and nouns that hold a place only; a claim isn't told apart by them alone.
FAINT_WORDS = {
    "en": _words(
        "use used uses using make makes made making get gets got getting give gives given giving"
        " take takes took taken taking go goes went gone going come comes came put puts set sets"
        " thing things way ways case cases kind kinds sort stand stands want wants certain"
        " simply easily easy mean means happen happens become becomes keep keeps result results"
        " represent represents able possible whole entire one ones someone something anything"
        " serve serves work works named"
        " value values others other another same different new single particular specific general"
        " several multiple various version versions once"
    ),
    "de": _words(
        "verwenden verwendet verwende verwendete verwendeten nutzen nutzt benutzen benutzt"
        " machen macht gemacht geben gibt gegeben gehen geht kommen kommt lassen lässt tun tut"
        " nehmen nimmt stellen stellt stehen steht liegen liegt sache sachen art arten weise"
        " fall fälle fällen einfach einfache einfachen möglich wollen will bedeutet bedeuten"
        " heißt erhalten erhält bekommen bekommt ganz ganze ganzen andere anderen anderer anderes"
        " gleich gleiche gleichen neu neue neuen bestimmt bestimmte bestimmten allgemein"
        " heißen nennt nennen genannt bezeichnet bezeichnen vorhanden gewünscht gewünschte"
        " gewünschten sorgt sorgen dient dienen verfügt verfügen beispiel beispielsweise"
        " mehrere mehreren mehrerer verschiedene verschiedenen verschiedener version versionen"
    ),
}
# Verbs and nouns that a paraphrase puts for each other: "it holds", "it contains", "it has". Where
# one is missing, it is half as strange as another word at the most.
LIGHT_WORDS = {
    "en": _words(
        "hold holds held contain contains contained tell tells told say says said show shows shown"
        " see sees seen view views viewed treat treats treated offer offers offered"
        " provide provides provided refer refers referred"
        " determine determines determined belong belongs lie lies remain remains remained stay"
        " stays allow allows allowed describe describes described look looks exist exists occur"
        " occurs occurred perform performs performed carry carries carried call calls called mark"
        " marks marked find finds found cause causes caused lead leads know knows known think"
        " follow follows followed"
        " reason reasons purpose place places part parts beyond"
    ),
    "de": _words(
        "sagen sagt gesagt mitteilen mitteilt teilt mitgeteilt gehören gehört enthalten enthält"
        " halten hält gehalten eignet eignen geeignet zeigen zeigt gezeigt bieten bietet geboten"
        " anbieten angeboten ermöglichen ermöglicht erlauben erlaubt erfolgen erfolgt bleiben"
        " bleibt geblieben bestehen besteht dauern dauert existieren existiert befinden befindet"
        " gelten gilt durchführen durchgeführt führen führt handeln handelt legen legt gelegt"
        " bereitstellen bereitgestellt bringen bringt finden findet gefunden wissen weiß"
        " grund gründe zweck vorgang teil teile stelle stellen anzahl lange lang dazu"
    ),
}
NEGATORS = {
    "en": _words(
        "not no never none nothing nobody nowhere neither nor without cannot hardly rarely seldom"
        " barely ratherthan"
    ),
    "de": _words(
        "nicht nichts nie niemals kein keine keinen keinem keiner keines keinerlei niemand ohne"
        " weder kaum selten nirgends nirgendwo keineswegs keinesfalls statt anstatt anstelle"
    ),
}
# These deny one thing for another, so that the very next word is what they deny. "Instead of"
# and "rather than" are read as one word.
RATHER_THAN = "ratherthan"
CONTRASTS = frozenset((RATHER_THAN, "statt", "anstatt", "anstelle"))
# Classes of words that say how many, how often, whether and in what order. A claim that has
# one needs it in its passage, with the exceptions that `operators.py` makes.
OPERATORS: Mapping[str, Mapping[str, frozenset[str]]] = {
    "all": {
        "en": _words("all every each any whatever everything everyone everybody entirely"),
        "de": _words(
            "all alle allen aller alles allem jede jeder jedes jeden jedem sämtliche"
            " sämtlichen überall beliebige beliebigen beliebig"
        ),
    },
    "always": {"en": _words("always"), "de": _words("immer stets jederzeit")},
    "most": {
        "en": _words("most mostly usually generally typically normally commonly majority"),
        "de": _words(
            "meist meiste meisten meistens normalerweise üblicherweise überwiegend"
            " mehrheit gewöhnlich"
        ),
    },
    "some": {
        "en": _words("some sometimes occasionally partly"),
        "de": _words(
            "manche manchen mancher manches manchmal einige einigen einiger teils teilweise"
            " gelegentlich"
        ),
    },
    "many": {
        "en": _words("many often frequently"),
        "de": _words("viele vielen vieler oft häufig häufiger"),
    },
    "few": {"en": _words("few"), "de": _words("wenige wenigen weniger")},
    "only": {
        "en": _words("only solely exclusively alone merely"),
        "de": _words("nur ausschließlich allein lediglich bloß einzig"),
    },
    "may": {
        "en": _words("may might perhaps possibly maybe probably likely"),
        "de": _words(
            "möglicherweise vielleicht eventuell wahrscheinlich vermutlich gegebenenfalls könnte"
            " könnten"
        ),
    },
    "must": {
        "en": _words(
            "must required requires require requiring mandatory necessary needs need needed"
        ),
        "de": _words(
            "muss müssen musst müsste müssten erforderlich erforderliche erforderlichen notwendig"
            " nötig pflicht verpflichtend"
        ),
    },
    "should": {
        "en": _words("should ought recommend recommends recommended"),
        "de": _words("sollte sollten sollen soll empfehlen empfiehlt empfohlen"),
    },
    "before": {
        "en": _words("before prior earlier beforehand previously"),
        "de": _words("bevor vorher zuvor vorab"),
    },
    "after": {
        "en": _words("after afterwards later subsequently"),
        "de": _words("nachdem danach nachher anschließend hinterher"),
    },
    "except": {
        "en": _words("except unless excluding besides"),
        "de": _words("außer ausgenommen abgesehen"),
    },
    "more": {
        "en": _words("more greater larger bigger higher longer"),
        "de": _words("mehr größer größere größeren höher höhere länger"),
    },
    "less": {
        "en": _words("less fewer smaller lower shorter"),
        "de": _words("kleiner kleinere niedriger niedrigere kürzer"),
    },
}
# What stands before one of the first happens earlier, and before one of the others later.
EARLIER = {
    "en": _words("before until till"),
    "de": _words("vor bevor bis ehe"),
}
LATER = {
    "en": _words("after since"),
    "de": _words("nach nachdem seit seitdem ab"),
}
# A statement ends at these, and with it the reach of a negation.
CLAUSE_WORDS = {
    "en": _words("and or but because since if when whenever unless although though while whereas"
                 " which that who where so until whether nor as"),
    "de": _words("und oder aber sondern weil da wenn falls obwohl während dass damit sodass welche"
                 " welcher welches indem bis denn jedoch als"),
}  # fmt: skip
# What a clause begins with that isn't said itself, but is when or why the other is so.
CONDITIONS = {
    "en": _words("if when whenever because since unless until"),
    "de": _words("weil da wenn falls sofern sobald bis"),
}
# A particle at the end of a German clause belongs to its verb: "löst ... aus" is "auslösen".
PARTICLES = _words(
    "ab an auf aus bei ein fest fort frei her hin los mit nach um vor weg weiter zu zurück"
    " zusammen wieder hinzu dar durch über unter bereit statt sicher"
)
# A preposition tells the part that a thing has in a sentence, wherever the sentence puts it.
_CONTRACTED = {
    "im": "in",
    "ins": "in",
    "am": "an",
    "ans": "an",
    "beim": "bei",
    "vom": "von",
    "zum": "zu",
    "zur": "zu",
}
_GERMAN_PREPOSITIONS = _words(
    "in an bei von mit für auf aus durch über unter zwischen gegen um nach vor während seit laut"
    " mithilfe anhand gemäß innerhalb außerhalb trotz wegen zu ohne dank mittels neben hinter"
    " aufgrund"
)
_ENGLISH_PREPOSITIONS = _words(
    "of to at by on in into onto for from with as via per about over through between among within"
    " during against upon under above below without before after until till since across along"
    " towards"
)
# Each with the one that it is a form of.
PREPOSITIONS: Mapping[str, Mapping[str, str]] = {
    "en": {one: one for one in _ENGLISH_PREPOSITIONS},
    "de": {one: one for one in _GERMAN_PREPOSITIONS} | _CONTRACTED,
}
# With these a participle is passive.
PASSIVES = {
    "en": _words("is are was were be been being am get gets got"),
    "de": _words("wird werden wurde wurden worden werde sei"),
}
# A verb ends what stands behind a preposition.
AUXILIARIES = _words(
    "is are was were be been has have had do does did can could will would must may might should"
    " ist sind war waren wird werden wurde wurden hat haben hatte kann können muss müssen soll"
    " sollte sollten"
)
