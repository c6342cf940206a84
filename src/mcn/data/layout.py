"""The raw files: their folders (as PyG lays them out) and the SHA-256 of each."""

from __future__ import annotations

_PLANETOID_NAMES = {"cora": "Cora", "citeseer": "CiteSeer", "pubmed": "PubMed"}

PLANETOID_SUMS: dict[str, dict[str, str]] = {
    "cora": {
        "ind.cora.allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
        "ind.cora.tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "ind.cora.x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "ind.cora.y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
    },
    "citeseer": {
        "ind.citeseer.allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
        "ind.citeseer.tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "ind.citeseer.x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "ind.citeseer.y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
    },
    "pubmed": {
        "ind.pubmed.allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "ind.pubmed.ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "ind.pubmed.graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "ind.pubmed.test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
        "ind.pubmed.tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ind.pubmed.ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "ind.pubmed.x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "ind.pubmed.y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
    },
}

# Graphs 6 and 7 of the TU set DD, cut out and numbered from 1, edges sorted by (second, first) end.
DD_SUMS: dict[str, str] = {
    "DD67_A.txt": "09678a4373ba42460eaa7bad74b5e2fe9381ce02375b1deaff09028d3fb0ff18",
    "DD67_graph_indicator.txt": "f4759c83d7f50a3c80f0fc24f8dd79441a6bb762a2d12c2749020c7f7b2b9b63",
    "DD67_graph_labels.txt": "ad0fadf63cc7cd779ce475e345bf4063565b63a3c2efef1eebc89790aaa6acba",
    "DD67_node_labels.txt": "c8f45d5f1e7c9c96300a17db4965599c4e0e11dd215e0d38348acb1ce2a3c29d",
}

DD_FOLDERS = ("DD/DD67/raw", "DD67/raw")
# The whole set, of which the two graphs can be cut out.
DD_WHOLE_FOLDERS = ("DD/raw", "DD/DD/raw")
DD_WHOLE_FILES = ("DD_A.txt", "DD_graph_indicator.txt", "DD_graph_labels.txt", "DD_node_labels.txt")

# By the name of the set: its file, as in the repository that it comes from.
HETEROPHILOUS_SUMS: dict[str, dict[str, str]] = {
    "texas": {"texas.npz": "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844"},
    "wisconsin": {"wisconsin.npz": "2543c89838cfc75f737f7c4664cc1d097f8268602c20b2d1bd4f21407df9c074"},
    "chameleon-filtered": {
        "chameleon_filtered.npz": "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5"
    },
    "actor": {"actor.npz": "c350eef06b2c2a9bf8218be2b57cac6d4003d0922eb597a039e9123f75817816"},
    "minesweeper": {"minesweeper.npz": "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3"},
}

DRAWN_SUMS: dict[str, dict[str, str]] = {
    "amazon-photo": {
        "amazon_electronics_photo.npz": "4f552b0f6631b465c417b05db89d9d280fa7d01061b89fcc4602d88dd82ed22d"
    },
    "airports-usa": {
        "labels-usa-airports.txt": "d4062ff3b3a67c3ae72b581bb68228433223e35d6f0b2d41844d197ad3772195",
        "usa-airports.edgelist": "c73fec3eef27ed6d6ef4d8dfa7fd1604b959601a38d399eeaa1f87e8d8d58fc0",
    },
}
DRAWN_FOLDERS: dict[str, tuple[str, ...]] = {
    "amazon-photo": ("Amazon/Photo/raw", "Photo/raw"),
    "airports-usa": ("Airports/usa/raw", "usa/raw"),
}


def planetoid_folders(name: str) -> tuple[str, ...]:
    """Where a citation set's raw files may lie below a data folder; the first is where they are stored."""
    folder = _PLANETOID_NAMES[name]
    return f"Planetoid/{folder}/raw", f"{folder}/raw"


def heterophilous_folders(name: str) -> tuple[str, ...]:
    """Where the file of a set with ten splits may lie below a data folder."""
    return "heterophilous", f"HeterophilousGraphDataset/{name}/raw"
