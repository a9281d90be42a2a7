"""What people write: names, cities, course titles, and notes with everything that breaks a careless reader."""

from __future__ import annotations

CITIES = (
    "Paris", "Lyon", "Marseille", "Toulouse", "Lille", "Nantes", "Rennes", "Bordeaux", "Nîmes", "Besançon",
    "Saint-Étienne", "L'Haÿ-les-Roses", "Strasbourg", "Brest", "Grenoble",
)  # fmt: skip
CHANNELS = ("search", "advert", "friend", "school", "app_store")
FIRST_NAMES = (
    "Léa", "Hugo", "Zoé", "Noël", "Inès", "Adam", "Chloé", "Louis", "Maël", "Jade", "Gaël", "Anaïs", "Théo", "Lina",
    "Yanis", "Eva", "Ömer", "Søren", "Nguyễn", "李雷", "Юлия", "مريم",
)  # fmt: skip
SUFFIXES = ("", "", "", "7", "_x", " 🎓", " 🐼", "!", "2012", " d'A.", "-B")
COURSES = (
    ("Maths 6e", "maths", 6, "49.00"),
    ("Maths 3e: le brevet", "maths", 9, "79.00"),
    ("Maths Terminale", "maths", 12, "119.00"),
    ("Français 6e", "french", 6, "49.00"),
    ("Français: l'écrit du bac", "french", 11, "99.90"),
    ("English for beginners", "english", 5, "39.00"),
    ("English conversation 🎧", "english", 10, "89.50"),
    ("Physique-Chimie 4e", "physics", 8, "59.00"),
    ("Physique Terminale", "physics", 12, "129.00"),
    ("SVT 5e | le vivant", "biology", 7, "45.00"),
    ("Histoire-Géo 3e", "history", 9, "55.00"),
    ("Philosophie", "philosophy", 12, "69.99"),
    ("Python, premiers pas", "coding", 8, "149.00"),
    ('Robotique "maker"', "coding", 9, "199.00"),
    ("Échecs", "games", 4, "25.00"),
    ("Atelier d'écriture", "french", 7, "35.55"),
)  # fmt: skip
PLAIN_NOTES = (
    "payé par le parent",
    "second enfant",
    "rappeler demain",
    "virement attendu",
    "facture demandée",
    "offre",
)
HARD_NOTES = (
    "merci 🙏🏽 à bientôt 👩‍👩‍👧",
    "il a dit \"non\" puis 'oui'",
    "C:\\temp\\facture\\n.pdf",
    "ligne 1\nligne 2\r\nligne 3",
    "a|b||c|",
    "\\N",
    "NULL",
    "",
    "  espaces autour  ",
    "tab\tici; -- pas un commentaire",
    '{"json": [1, null, "x"]}',
    "100 % & <b>gras</b> é≠e\u0301",
    "שלום עולם",
    "pre\u2028post\u00a0fin",
    "`x`; DROP TABLE orders_0",
    "长" * 255,
)  # fmt: skip
COUPONS = ("PRINTEMPS26", "AMI-10", "RENTRÉE", "SCHOOL_5%", "VIP★")
