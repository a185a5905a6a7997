//! Texts for voters in letters and e-mails, in four languages.

use crate::args::Language;

/// The texts of a language.
pub(super) struct Words {
    pub(super) for_whom: &'static str,
    pub(super) letter: &'static str,
    pub(super) address: &'static str,
    pub(super) code: &'static str,
    pub(super) secret: &'static str,
    pub(super) subject: &'static str,
    pub(super) mail: &'static str,
    pub(super) turnout: &'static str,
    pub(super) votes: &'static str,
    pub(super) points: &'static str,
    pub(super) rank: &'static str,
    pub(super) elected: &'static str,
    pub(super) most: &'static str,
    pub(super) tie: &'static str,
    pub(super) blank: &'static str,
    pub(super) trial: &'static str,
    pub(super) verified: &'static str,
}

/// Returns the texts of a language.
pub(super) fn words(language: Language) -> Words {
    match language {
        Language::En => Words {
            for_whom: "For",
            letter: "Take a picture of this code with your phone, or open the address and type your voting code.",
            address: "Address:",
            code: "Your voting code:",
            secret: "Keep this letter to yourself: anyone who has the code can vote in your place.",
            subject: "{title}: your voting code",
            mail: "Hello {voter},\n\nYou can vote in: {title}\n\nOpen this link to vote:\n{link}\n\nOr open the address and \
                   type your voting code:\n{code}\n\nKeep this message to yourself: anyone who has the code can vote in \
                   your place.\n",
            turnout: "{voted} of {voters} voters have voted, with a total weight of {weight}.",
            votes: "votes",
            points: "points",
            rank: "rank {rank}: {count}",
            elected: "Elected",
            most: "Most votes",
            tie: "Tie",
            blank: "blank vote",
            trial: "This is a trial. Its result is not binding.",
            verified: "Verified from the published record. Election {id}, root {root} of the board, {size} entries.",
        },
        Language::De => Words {
            for_whom: "Für",
            letter: "Fotografieren Sie diesen Code mit dem Telefon, oder öffnen Sie die Adresse und geben Sie Ihren \
                     Wahlcode ein.",
            address: "Adresse:",
            code: "Ihr Wahlcode:",
            secret: "Behalten Sie diesen Brief für sich: Wer den Code hat, kann an Ihrer Stelle wählen.",
            subject: "{title}: Ihr Wahlcode",
            mail: "Guten Tag, {voter},\n\nSie können wählen bei: {title}\n\nÖffnen Sie zum Wählen diesen Link:\n{link}\n\nOder \
                   öffnen Sie die Adresse und geben Sie Ihren Wahlcode ein:\n{code}\n\nBehalten Sie diese Nachricht für \
                   sich: Wer den Code hat, kann an Ihrer Stelle wählen.\n",
            turnout: "{voted} von {voters} haben gewählt, mit einem Gesamtgewicht von {weight}.",
            votes: "Stimmen",
            points: "Punkte",
            rank: "Rang {rank}: {count}",
            elected: "Gewählt",
            most: "Die meisten Stimmen",
            tie: "Gleichstand",
            blank: "Enthaltung",
            trial: "Dies ist eine Probewahl. Ihr Ergebnis ist nicht verbindlich.",
            verified: "Nachgerechnet aus der veröffentlichten Aufzeichnung. Wahl {id}, Prüfsumme {root} der Urne, {size} Einträge.",
        },
        Language::Fr => Words {
            for_whom: "Pour",
            letter: "Prenez ce code en photo avec votre téléphone, ou ouvrez l’adresse et tapez votre code de vote.",
            address: "Adresse :",
            code: "Votre code de vote :",
            secret: "Gardez cette lettre pour vous : toute personne qui a le code peut voter à votre place.",
            subject: "{title} : votre code de vote",
            mail: "Bonjour {voter},\n\nVous pouvez participer à ce vote : {title}\n\nOuvrez ce lien pour voter :\n{link}\n\nOu \
                   ouvrez l’adresse et tapez votre code de vote :\n{code}\n\nGardez ce message pour vous : toute personne \
                   qui a le code peut voter à votre place.\n",
            turnout: "{voted} personnes sur {voters} ont voté, avec un poids total de {weight}.",
            votes: "voix",
            points: "points",
            rank: "rang {rank} : {count}",
            elected: "Élus",
            most: "Le plus de voix",
            tie: "Égalité",
            blank: "vote blanc",
            trial: "Ceci est un essai. Son résultat n’engage personne.",
            verified: "Vérifié à partir du registre publié. Élection {id}, racine {root} de l’urne, {size} entrées.",
        },
        Language::Es => Words {
            for_whom: "Para",
            letter: "Haga una foto de este código con el teléfono, o abra la dirección y escriba su código de voto.",
            address: "Dirección:",
            code: "Su código de voto:",
            secret: "No enseñe esta carta a nadie: quien tenga el código puede votar en su lugar.",
            subject: "{title}: su código de voto",
            mail: "Hola, {voter}:\n\nPuede votar en: {title}\n\nAbra este enlace para votar:\n{link}\n\nO abra la dirección y \
                   escriba su código de voto:\n{code}\n\nNo enseñe este mensaje a nadie: quien tenga el código puede votar \
                   en su lugar.\n",
            turnout: "Han votado {voted} de {voters} personas, con un peso total de {weight}.",
            votes: "votos",
            points: "puntos",
            rank: "puesto {rank}: {count}",
            elected: "Elegidos",
            most: "Más votos",
            tie: "Empate",
            blank: "voto en blanco",
            trial: "Esto es una prueba. Su resultado no es vinculante.",
            verified: "Comprobado a partir del registro publicado. Elección {id}, raíz {root} de la urna, {size} entradas.",
        },
    }
}

/// Replaces placeholders in braces by values, in a single pass: inserted values are not searched
/// again.
pub(super) fn filled(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let found = values.iter().find_map(|(called, value)| {
            let after = rest[1..].strip_prefix(called)?.strip_prefix('}')?;
            Some((value, after))
        });
        match found {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_filled_once() {
        let values = [("voter", "{code}"), ("code", "aaaa")];
        assert_eq!(filled("{voter}: {code}, {other} {", &values), "{code}: aaaa, {other} {");
        for language in [Language::En, Language::De, Language::Fr, Language::Es] {
            let words = words(language);
            for part in ["{voter}", "{title}", "{link}", "{code}"] {
                assert!(words.mail.contains(part), "{language:?} {part}");
            }
            assert!(words.turnout.contains("{voted}") && words.verified.contains("{root}"), "{language:?}");
        }
    }
}
