//! Are page error rates of stripes exact, from certainty to far below 1e-300, and those of the papers?
//!
//! Expected values are from mpmath with 1500 digits, enough for the literal differences of mSAPL's equations, each rate being
//! the exact value of its double:
//!
//! ```python
//! from mpmath import *; mp.dps = 1500                     # python3 -m pip install mpmath
//! def outcome(n, k, M, p):                                # CPER and DPER of a page of M codewords
//!     f = lambda a, b: sum(binomial(n, i) * mpf(p)**i * (1-mpf(p))**(n-i) for i in range(a, min(b, n) + 1))
//!     c, d = f(0, k), f(k+1, 2*k); return c**M, (c+d)**M - c**M
//! def loss(pages, m):                                     # 1 - P(all correct or detected, at most m detected)
//!     poly = [mpf(1)]
//!     for c, d in pages:
//!         poly = [(poly[j]*c if j < len(poly) else 0) + (poly[j-1]*d if j else 0) for j in range(len(poly)+1)]
//!     return 1 - sum(poly[:m+1])
//! # printed: n, k, M, N, m, p, log(loss), log(1 - c - d + d*loss of N-1 pages with m-1 parities)
//! ```
#![allow(clippy::unreadable_literal, clippy::excessive_precision, reason = "tables as mpmath printed them")]

use outlast_models::uper::{ln_mds_uper, ln_stripe_loss};
use outlast_models::{PageCode, PageOutcome, PageStripe, chip};
use proptest::prelude::*;

type StripeRow = (u32, u32, u32, u32, u32, f64, f64, f64);

/// n, k, codewords, pages, parities, RBER, ln P(stripe loses data), ln P(a given page is lost).
const STRIPES: [StripeRow; 79] = [
    (8192, 8, 1, 8, 0, 1.4728e-07, -71.20801923218336, -73.287460773863196),
    (8192, 8, 1, 8, 0, 1e-09, -116.13796176206019, -118.21740330374003),
    (8192, 8, 1, 8, 0, 1e-20, -344.09387860377099, -346.17332014545082),
    (8192, 8, 1, 8, 0, 1e-05, -33.318510890594918, -35.397952432274752),
    (8192, 8, 1, 8, 0, 0.00098876953125, -0.012637957507551651, -0.86413644029101144),
    (8192, 8, 1, 8, 0, 0.0014282226562500001, -8.9963512092265537e-7, -0.19296890090657859),
    (8192, 8, 1, 8, 0, 0.002197265625, -5.8333290631522444e-18, -0.0070350356490949856),
    (8192, 8, 1, 8, 0, 0.00439453125, -2.2631523656807514e-62, -1.9694240109641764e-8),
    (8192, 8, 1, 8, 1, 1.4728e-07, -143.15922382700932, -144.58639365686332),
    (8192, 8, 1, 8, 1, 1e-09, -230.47708732951675, -232.48662743406869),
    (8192, 8, 1, 8, 1, 1e-20, -661.1356493424807, -663.21509088415975),
    (8192, 8, 1, 8, 1, 1e-05, -67.462327188550709, -68.849307896884367),
    (8192, 8, 1, 8, 1, 0.00098876953125, -0.088841975148304182, -0.88586122572983782),
    (8192, 8, 1, 8, 1, 0.0014282226562500001, -3.1200575855091701e-5, -0.19297349463674011),
    (8192, 8, 1, 8, 1, 0.002197265625, -2.4545151921415334e-15, -0.0070350356490952939),
    (8192, 8, 1, 8, 1, 0.00439453125, -1.3758160541895226e-57, -1.9694240109641764e-8),
    (8192, 8, 1, 8, 2, 1.4728e-07, -145.68366994728391, -147.76311148896375),
    (8192, 8, 1, 8, 2, 1e-09, -230.55224467342818, -232.63168621510801),
    (8192, 8, 1, 8, 2, 1e-20, -661.13564934248148, -663.21509088416131),
    (8192, 8, 1, 8, 2, 1e-05, -74.053650077735765, -76.133091619414365),
    (8192, 8, 1, 8, 2, 0.00098876953125, -0.31180708376998289, -1.0033692852963),
    (8192, 8, 1, 8, 2, 0.0014282226562500001, -0.00047780257133408856, -0.19310888472333282),
    (8192, 8, 1, 8, 2, 0.002197265625, -4.5215805938187341e-13, -0.0070350356492085135),
    (8192, 8, 1, 8, 2, 0.00439453125, -3.6592076120519595e-53, -1.9694240109641764e-8),
    (8192, 8, 1, 16, 1, 1.4728e-07, -141.74759743003601, -143.84675684501851),
    (8192, 8, 1, 16, 1, 1e-09, -229.70444003032865, -232.34311744138237),
    (8192, 8, 1, 16, 1, 1e-20, -660.44250216191986, -663.21509088415797),
    (8192, 8, 1, 16, 1, 1e-05, -66.007772076392143, -68.087534089392242),
    (8192, 8, 1, 16, 1, 0.00098876953125, -0.001979424584442974, -0.86440636376475856),
    (8192, 8, 1, 16, 1, 0.0014282226562500001, -5.5328024027741919e-11, -0.19296890091071126),
    (8192, 8, 1, 16, 1, 0.002197265625, -2.8601961884576793e-32, -0.0070350356490949856),
    (8192, 8, 1, 16, 1, 0.00439453125, -6.2273114969748469e-119, -1.9694240109641764e-8),
    (65536, 8, 1, 8, 2, 1.4728e-07, -110.32660268534107, -112.40604422702091),
    (65536, 8, 1, 8, 2, 1e-09, -195.1872552727823, -197.26669681446214),
    (65536, 8, 1, 8, 2, 1e-20, -625.77060578361919, -627.85004732529903),
    (65536, 8, 1, 8, 2, 1e-05, -39.229353830331462, -41.308310799177085),
    (65536, 8, 1, 8, 2, 0.00012359619140625, -0.31179830724451258, -1.0033801947976604),
    (65536, 8, 1, 8, 2, 0.00017852783203125002, -0.00048019491446420876, -0.19331229422497041),
    (65536, 8, 1, 8, 2, 0.000274658203125, -4.6818381025406016e-13, -0.0070752646091163067),
    (65536, 8, 1, 8, 2, 0.00054931640625, -4.9338522161865656e-53, -2.0547587973295358e-8),
    (4096, 75, 4, 16, 1, 0.001, -299.89751887566349, -301.97696041734332),
    (4096, 75, 4, 16, 1, 1e-09, -2391.9183799747884, -2393.9978215164683),
    (4096, 75, 4, 16, 1, 1e-05, -992.02599146900549, -994.10543301068533),
    (4096, 75, 4, 16, 1, 0.01669921875, -2.6958234747137104e-5, -0.55594230260377563),
    (4096, 75, 4, 16, 1, 0.02412109375, -8.0689518404484345e-129, -2.3998266009153683e-9),
    (4096, 75, 4, 16, 1, 0.037109375, -2.5801269170337566e-709, -5.909258027127643e-48),
    (4096, 75, 4, 16, 1, 0.07421875, 0.0, -7.5522516754560513e-233),
    (4148, 4, 8, 8, 2, 1.4728e-07, -75.257116419662495, -77.33655796134233),
    (4148, 4, 8, 8, 2, 1e-09, -120.18759134584133, -122.26703288752117),
    (4148, 4, 8, 8, 2, 1e-20, -348.14351182715192, -350.22295336883176),
    (4148, 4, 8, 8, 2, 1e-05, -37.331767971849515, -39.41120856003662),
    (4148, 4, 8, 8, 2, 0.0010848601735776277, -1.0032500065392061e-12, -0.0064421564377715178),
    (4148, 4, 8, 8, 2, 0.0015670202507232403, -3.8469272641089014e-32, -6.215629940459825e-6),
    (4148, 4, 8, 8, 2, 0.0024108003857280617, -1.1887958358951414e-80, -5.1647243078875556e-13),
    (4148, 4, 8, 8, 2, 0.0048216007714561235, -5.9319371890451104e-272, -5.2871455041552181e-39),
    (4096, 25, 2, 5, 3, 0.001, -82.475112857918385, -84.084550770346017),
    (4096, 25, 2, 5, 3, 1e-09, -783.10006114598512, -784.70949905841922),
    (4096, 25, 2, 5, 3, 1e-20, -2074.8502943484332, -2076.4597322608673),
    (4096, 25, 2, 5, 3, 1e-05, -313.41237022671143, -315.02180813914553),
    (4096, 25, 2, 5, 3, 0.0057128906250000005, -1.4214401872150923, -1.5981614558288308),
    (4096, 25, 2, 5, 3, 0.008251953125000001, -0.00024562598064813125, -0.0051915640997505086),
    (4096, 25, 2, 5, 3, 0.0126953125, -1.6005589533619885e-20, -5.188511905247402e-10),
    (4096, 25, 2, 5, 3, 0.025390625, -2.0257500660091736e-132, -4.9598275082320554e-41),
    (512, 1, 1, 64, 1, 1.4728e-07, -26.113055277040724, -30.268387542712539),
    (512, 1, 1, 64, 1, 1e-09, -41.093545098369975, -45.252403943182873),
    (512, 1, 1, 64, 1, 1e-20, -117.07887702454954, -121.23776010790921),
    (512, 1, 1, 64, 1, 1e-05, -13.250671792361481, -17.231633365125548),
    (512, 1, 1, 64, 1, 0.003515625, -1.3915862377740648e-20, -0.62067346017043223),
    (512, 1, 1, 64, 1, 0.005078125, -1.1036229748987554e-35, -0.31006227707029826),
    (512, 1, 1, 64, 1, 0.0078125, -2.0435501647348401e-65, -0.095100998886115334),
    (512, 1, 1, 64, 1, 0.015625, -5.1569317805980647e-161, -0.0028785040510640386),
    (1024, 0, 1, 10, 1, 1.4728e-07, -6.4976273066724375, -8.7995338271999723),
    (1024, 0, 1, 10, 1, 1e-09, -11.489214057848546, -13.791794542846915),
    (1024, 0, 1, 10, 1, 1e-20, -36.817644961287415, -39.120230054281461),
    (1024, 0, 1, 10, 1, 1e-05, -2.3296269494937268, -4.5865643158435725),
    (1024, 0, 1, 10, 1, 0.00087890625, -0.00012292994315038025, -0.52156440498521356),
    (1024, 0, 1, 10, 1, 0.00126953125, -2.2417408629324043e-6, -0.31787575296210697),
    (1024, 0, 1, 10, 1, 0.001953125, -2.021235825875486e-9, -0.14510770658338449),
    (1024, 0, 1, 10, 1, 0.00390625, -3.9282837491891041e-18, -0.018339886955955221),
];

/// n, k, parities, RBER of each page, ln P(stripe loses data).
const UNLIKE: [(u32, u32, u32, &[f64], f64); 10] = [
    (8192, 8, 2, &[1.412e-11, 9.248e-12, 5.949e-11], -280.60477876586253),
    (4096, 25, 0, &[3.837e-12, 9.376e-14, 1.95e-12], -528.52388021506308),
    (4096, 25, 2, &[2.959e-10, 4.25e-11, 4.707e-13], -847.50706314404016),
    (8192, 8, 0, &[2.41e-13, 9.395e-12, 5.509e-14, 1.21e-14, 8.031e-14], -160.22559482328203),
    (8192, 8, 2, &[1.771e-05, 5.045e-07, 7.486e-08], -66.476346108573665),
    (
        4096,
        25,
        0,
        &[0.0006311, 5.738e-06, 0.0005743, 0.0006065, 3.119e-07, 4.088e-05, 9.742e-05, 1.904e-06],
        -38.713398461225534,
    ),
    (
        4148,
        4,
        1,
        &[1.887e-05, 0.001385, 2.011e-05, 0.0008192, 1.077e-06, 2.566e-06, 0.001467, 1.862e-05],
        -0.40681375950580717,
    ),
    (
        4148,
        4,
        1,
        &[1.492e-06, 1.69e-05, 7.415e-07, 8.164e-06, 5.266e-07, 6.08e-05, 2.271e-05, 1.606e-05],
        -25.374156650462059,
    ),
    (4148, 4, 1, &[2.725e-08, 2.543e-09, 7.846e-10], -94.601090502209909),
    (8192, 8, 2, &[1.672e-10, 2.412e-08, 2.808e-09, 2.004e-09, 3.783e-09], -178.52016139912045),
];

/// Relative to the probability; the logarithm itself cannot be better than a few of its last places.
fn close(actual: f64, expected: f64, what: &str) {
    let tolerance = 1e-12 + 8.0 * f64::EPSILON * expected.abs();
    assert!((actual - expected).abs() <= tolerance, "{what}: {actual} not {expected}");
}

fn stripe(n: u32, k: u32, codewords: u32, pages: u32, parities: u32) -> PageStripe {
    PageStripe::new(PageCode::new(n, k, codewords).expect("a code"), pages, parities).expect("a stripe")
}

#[test]
fn stripes_agree_with_mpmath() {
    for (n, k, codewords, pages, parities, rber, ln_loss, ln_page) in STRIPES {
        let what = format!("n {n} k {k} x {codewords}, {pages} pages, {parities} parities, {rber:e}");
        let stripe = stripe(n, k, codewords, pages, parities);
        close(stripe.ln_stripe_loss(rber).unwrap(), ln_loss, &what);
        close(stripe.ln_page_loss(rber).unwrap(), ln_page, &what);
        let ln_uper = if parities == 0 { ln_page } else { ln_loss - f64::from(pages).ln() };
        close(stripe.ln_uper(rber).unwrap(), ln_uper, &what);
        // The plain result, to 1e-10 down to 1e-300 and a little beyond.
        let plain = stripe.uper(rber).unwrap();
        if ln_uper > -700.0 {
            close(plain.ln(), ln_uper, &what);
        } else {
            assert!(plain <= 1e-300, "{what}: {plain:e}");
        }
    }
}

#[test]
fn unlike_pages_agree_with_mpmath() {
    for (n, k, parities, rates, expected) in UNLIKE {
        let code = PageCode::new(n, k, 1).unwrap();
        let pages: Vec<PageOutcome> = rates.iter().map(|&rber| code.outcome(rber).unwrap()).collect();
        close(ln_stripe_loss(&pages, parities).unwrap(), expected, &format!("{n} {k} {parities} {rates:?}"));
    }
}

/// mSAPL's chip, n = 8192 bits, 8 corrected, 8 pages: UPER over 1000 to 24 000 cycles stays positive and rises, and at 1000
/// cycles reaches below 1e-60, where the printed equations give noise of either sign.
#[test]
fn the_trap_of_cancellation() {
    let model = &chip("msapl").unwrap().model;
    for parities in 0..=2 {
        let stripe = stripe(8192, 8, 1, 8, parities);
        let rates: Vec<f64> = (1..=24)
            .map(|thousand| stripe.uper(model.rber(f64::from(thousand) * 1e3, 0.0, 0.0)).unwrap())
            .collect();
        assert!(rates.iter().all(|&rate| rate > 0.0) && rates.is_sorted_by(|a, b| a < b), "{rates:?}");
        assert!(parities != 1 || (rates[0] < 1e-62 && rates[0] > 1e-64), "{:e}", rates[0]);
    }
    let page = PageCode::new(8192, 8, 1).unwrap().outcome(model.rber(1000.0, 0.0, 0.0)).unwrap();
    let literal =
        1.0 - page.ln_correct.exp().powi(8) - 8.0 * page.ln_correct.exp().powi(7) * page.ln_detected.exp();
    assert!(literal.abs() < 1e-15 && (literal == 0.0 || literal < 1e-17), "{literal:e}");
}

/// "RAID5 and RAID6 exceed RAID0 at 16K and 19K": with the stripe of 16 pages and 8 bits per 1-KB codeword of that figure and
/// write amplifications as 1 : 1.2 : 1.5, it is RAID6 that crosses near 16K, and RAID5 near 20K.
#[test]
fn more_parity_crosses_over_first() {
    let model = &chip("msapl").unwrap().model;
    let uper = |parities: u32, wear: f64, cycles: f64| {
        stripe(8192, 8, 1, 16, parities).uper(model.rber(cycles * wear, 0.0, 0.0)).unwrap()
    };
    let crossing = |parities: u32, wear: f64| {
        (10_000..30_000)
            .map(f64::from)
            .find(|&cycles| uper(parities, wear, cycles) > uper(0, 1.0, cycles))
            .expect("they cross")
    };
    let (raid5, raid6) = (crossing(1, 1.2), crossing(2, 1.5));
    assert!((raid6 - 16_000.0).abs() < 500.0, "{raid6}");
    assert!((raid5 - 20_000.0).abs() < 500.0, "{raid5}");
    // With equal wear no parity is ever worse.
    assert!(
        uper(2, 1.0, 24_000.0) < uper(1, 1.0, 24_000.0) && uper(1, 1.0, 24_000.0) < uper(0, 1.0, 24_000.0)
    );
}

/// Counting pages rather than stripes: the same without parity, and m + 1 times as much where failures are rare.
#[test]
fn lost_pages_against_lost_stripes() {
    for parities in 0..=3 {
        // So strong a code that undetected errors are negligible, and bad pages so rare (3e-5) that more of them are too.
        let stripe = stripe(8192, 40, 1, 12, parities);
        let ratio = (stripe.ln_page_loss(2.5e-3).unwrap() - stripe.ln_uper(2.5e-3).unwrap()).exp();
        assert!((ratio / f64::from(parities + 1) - 1.0).abs() < 1e-3, "{parities}: {ratio}");
    }
}

/// All outcomes of small stripes, one by one: codewords of 6 bits, each pattern of correct, detected and undetected pages.
#[test]
fn enumeration_of_small_stripes() {
    for (rates, parities) in
        [([0.02, 0.2, 0.05, 0.3], 1u32), ([0.1, 0.1, 0.1, 0.1], 2), ([0.4, 0.01, 0.2, 0.2], 0)]
    {
        let code = PageCode::new(6, 1, 1).unwrap();
        let pages: Vec<PageOutcome> = rates.iter().map(|&rber| code.outcome(rber).unwrap()).collect();
        let (mut lost, mut first_page) = (0.0, 0.0);
        for pattern in 0..3usize.pow(4) {
            let states: Vec<usize> = (0..4).map(|page| pattern / 3usize.pow(page) % 3).collect();
            let probability: f64 = states
                .iter()
                .zip(rates)
                .map(|(&state, p)| {
                    let term = |i: i32, ways: f64| ways * p.powi(i) * (1.0 - p).powi(6 - i);
                    let correct = term(0, 1.0) + term(1, 6.0);
                    let detected = term(2, 15.0);
                    [correct, detected, 1.0 - correct - detected][state]
                })
                .product();
            let detected = states.iter().filter(|&&state| state == 1).count() as u32;
            if states.contains(&2) || detected > parities {
                lost += probability;
                first_page += if states[0] == 0 { 0.0 } else { probability };
            }
        }
        close(ln_stripe_loss(&pages, parities).unwrap(), f64::ln(lost), "enumeration");
        if parities == 2 {
            close(stripe(6, 1, 1, 4, parities).ln_page_loss(0.1).unwrap(), f64::ln(first_page), "a page");
        }
    }
}

/// Flexible, section 4.2: an MDS code whose bad pages are all noticed is a stripe whose ECC detects any number.
#[test]
fn mds_codes() {
    // (7,1) at 1e-3: (1 − 0.999^8 − 8·0.999^7·0.001) / 8, by hand from C(8,2), C(8,3), …
    let expected = (28.0 * 1e-6 * 0.999f64.powi(6) + 56.0 * 1e-9 * 0.999f64.powi(5) + 70e-12) / 8.0;
    assert!((ln_mds_uper(7, 1, 1e-3f64.ln()).unwrap().exp() / expected - 1.0).abs() < 1e-8);
    assert!(ln_mds_uper(6, 2, -30.0).unwrap() < ln_mds_uper(7, 1, -30.0).unwrap());
    // C(8,3)/8 · p³ where that underflows.
    close(ln_mds_uper(6, 2, -500.0).unwrap(), 7f64.ln() - 1500.0, "far tail");
    assert_eq!(ln_mds_uper(6, 2, f64::NEG_INFINITY), Ok(f64::NEG_INFINITY));
    assert!(ln_mds_uper(0, 2, -1.0).is_err() && ln_mds_uper(7, 1, 0.1).is_err());
}

#[test]
fn extreme_error_rates_are_exact_and_impossible_codes_are_refused() {
    let stripe = stripe(8192, 8, 2, 8, 1);
    assert_eq!(stripe.uper(0.0), Ok(0.0));
    assert_eq!(stripe.ln_uper(0.0), Ok(f64::NEG_INFINITY));
    assert_eq!(stripe.uper(1.0), Ok(0.125));
    assert_eq!(stripe.ln_page_loss(1.0), Ok(0.0));
    assert!(stripe.uper(5e-324).unwrap() == 0.0 && stripe.ln_uper(5e-324).unwrap() > -20_000.0);
    for rber in [-1e-9, 1.1, f64::NAN, f64::INFINITY] {
        let error = stripe.uper(rber).unwrap_err();
        assert_eq!(error.argument, "rber");
        assert!(stripe.ln_uper(rber).is_err() && stripe.ln_page_loss(rber).is_err());
    }
    let code = PageCode::new(8192, 8, 1).unwrap();
    assert!(PageStripe::new(code.clone(), 8, 8).unwrap_err().to_string().contains("parities = 8"));
    assert!(PageStripe::new(code.clone(), 0, 0).is_err());
    assert!(
        PageCode::new(0, 0, 1).is_err() && PageCode::new(8, 9, 1).is_err() && PageCode::new(8, 1, 0).is_err()
    );
    assert!(ln_stripe_loss(&[], 0).is_err());
    // A code that corrects everything never fails.
    assert_eq!(PageStripe::new(PageCode::new(8, 8, 1).unwrap(), 4, 1).unwrap().uper(0.3), Ok(0.0));
}

proptest! {
    /// Loss grows with the error rate, falls with parity, lies within 0 to 1, and both ways of evaluating agree.
    #[test]
    fn monotone_positive_and_consistent(
        n in 16u32..20_000,
        share in 0.0f64..0.5,
        codewords in 1u32..9,
        pages in 2u32..70,
        parities in 0u32..6,
        ln_p in -300.0f64..-0.7,
        growth in 1e-6f64..0.7,
    ) {
        let k = (f64::from(n) * share * share * share) as u32;
        let parities = parities.min(pages - 1);
        let (p, higher) = (ln_p.exp(), (ln_p + growth).exp().min(0.5));
        let weak = stripe(n, k, codewords, pages, parities);
        let (ln, ln_higher) = (weak.ln_uper(p).unwrap(), weak.ln_uper(higher).unwrap());
        // Rounding of logarithms of this size; saturated rates stand still.
        let slack = 2e-12 + 16.0 * f64::EPSILON * ln.abs();
        prop_assert!(ln.is_finite() && ln <= slack, "{}", ln);
        prop_assert!(ln_higher >= ln - slack, "{} {}", ln, ln_higher);
        let plain = weak.uper(p).unwrap();
        prop_assert!((plain > 0.0) == (ln.exp() > 0.0));
        if ln > -690.0 {
            prop_assert!((plain.ln() - ln).abs() <= 1e-11 + slack, "{} {}", plain.ln(), ln);
        }
        if parities + 1 < pages {
            let strong = stripe(n, k, codewords, pages, parities + 1);
            prop_assert!(strong.ln_stripe_loss(p).unwrap() <= weak.ln_stripe_loss(p).unwrap() + slack);
        }
        // Like pages given one by one.
        let page = PageCode::new(n, k, codewords).unwrap().outcome(p).unwrap();
        let one_by_one = ln_stripe_loss(&vec![page; pages as usize], parities).unwrap();
        prop_assert!((one_by_one - weak.ln_stripe_loss(p).unwrap()).abs() <= 1e-11 + slack);
    }

    /// Curves over wear are strictly increasing at steps of a thousandth, until saturation.
    #[test]
    fn strictly_rising(parities in 0u32..4, ln_p in -200.0f64..-9.5) {
        let stripe = stripe(8192, 8, 1, 8, parities);
        let ln = stripe.ln_uper(ln_p.exp()).unwrap();
        prop_assert!(ln < -708.0 || stripe.uper(ln_p.exp() * 1.001).unwrap() > stripe.uper(ln_p.exp()).unwrap());
        prop_assert!(stripe.ln_uper(ln_p.exp() * 1.001).unwrap() > ln);
    }
}
